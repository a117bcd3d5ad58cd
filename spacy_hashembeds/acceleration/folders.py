"""Folders of pipelines: copied, and replaced only where nothing else is lost."""

import os
import shutil
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from spacy.language import Language

from ..files import read_json
from ..loading import load_config

#: Files and folders that spaCy saves beside the components.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}


def find_source(nlp: Language, model: str | Path, output: Path) -> Path:
    """Find the pipeline's folder, if `output` may be written without harm to it."""
    if nlp.path is None:
        raise ValueError(f"'{model}' should be a saved pipeline, but has no folder.")
    source, target = (Path(os.path.realpath(path)) for path in (nlp.path, output))
    if source == target or source in target.parents or target in source.parents:
        raise ValueError(
            f"The new pipeline can't be saved to '{output}': the old one is in "
            f"'{source}', and stays as it is. Name a folder elsewhere."
        )
    return source


def copy_folder(source: Path, target: Path) -> None:
    """Copy files without their modes: those of a package may be read-only."""
    for folder, _, names in os.walk(source, followlinks=True):
        place = target / Path(folder).relative_to(source)
        place.mkdir()
        for name in names:
            shutil.copyfile(Path(folder) / name, place / name)


def check_free(output: Path, *, force: bool) -> bool:
    """Return True if nothing is there. Raise FileExistsError otherwise, but with
    `force`.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return True
    if not force:
        raise FileExistsError(
            f"There is something in '{output}' already. Name another folder, or ask "
            "for it to be replaced (--force)."
        )
    return False


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Refuse to replace more than a pipeline, and that without `force`. A pipeline is
    what spaCy saves, the folders of its components, and copies of files of the source.
    """
    if check_free(output, force=force):
        return
    foreign = ["no config.cfg and meta.json of spaCy"]
    with suppress(OSError, ValueError):
        config = load_config(output / "config.cfg")
        if "nlp" in config and "spacy_version" in read_json(output / "meta.json"):
            own = _SAVED | {*config.get("components", {})}
            foreign = [
                path.name
                for path in sorted(output.iterdir())
                if path.name not in own and not _is_copy(path, source / path.name)
            ]
    if foreign:
        raise FileExistsError(
            f"'{output}' should hold a pipeline to replace, and nothing else, but has "
            f"{', '.join(foreign)}. Name another folder, or remove that yourself."
        )


def _is_copy(path: Path, original: Path) -> bool:
    is_file = path.is_file() and original.is_file()
    return is_file and cmp(path, original, shallow=False)
