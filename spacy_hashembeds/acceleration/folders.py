"""Copy folders of pipelines, and replace them only if no other files would be lost."""

import os
import shutil
from collections.abc import Container, Iterator
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from spacy.language import Language

from ..files import read_json, walk_folder
from ..loading import load_config

#: Files and folders that spaCy saves beside the components.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}
#: Folders that spaCy saves inside the folders of its components and of the vocab.
_FOLDERS_BELOW = {"kb", "lookups"}
_SAVED_BELOW = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "vectors", "vectors.cfg"),
}


def find_source(nlp: Language, model: str | Path, output: Path) -> Path:
    """Find the pipeline's folder. Refuse an `output` that would overwrite it."""
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
    """Copy files and the targets of links, without their modes: files of a package may
    be read-only.
    """
    for path, names in walk_folder(source):
        place = target / path.relative_to(source)
        place.mkdir()
        for name in names:
            shutil.copyfile(path / name, place / name)


def check_free(output: Path, *, force: bool) -> bool:
    """Return True if `output` is missing or empty. Otherwise raise FileExistsError, or
    with `force` return False.
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
    """Check that `output` is free, or with `force` a pipeline without foreign files."""
    if check_free(output, force=force):
        return
    own, is_pipeline = {*_SAVED}, False
    with suppress(OSError, ValueError):
        config = load_config(output / "config.cfg")
        own |= {*config.get("components", {})}
        meta = read_json(output / "meta.json")
        is_pipeline = "nlp" in config and "spacy_version" in meta
    foreign = sorted(_find_foreign(output, source, own)) if is_pipeline else []
    if foreign or not is_pipeline:
        more = f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""
        also = f"also holds {', '.join(foreign[:5])}{more}" if foreign else "is none"
        raise FileExistsError(
            f"'{output}' should hold a pipeline to replace, with spaCy's config.cfg "
            f"and meta.json, and nothing else, but {also}. Name another folder, or "
            "remove that yourself."
        )


def _find_foreign(folder: Path, source: Path, own: Container[str]) -> Iterator[str]:
    """Find files that neither the source has, nor spaCy or its components save."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        top, *below = name.parts
        if top in own:
            is_saved = not below or below[-1] in _SAVED_BELOW
            is_saved = is_saved and _FOLDERS_BELOW.issuperset(below[:-1])
            is_known = is_saved or (source / name).is_file()
        else:
            # os.stat of a broken link fails
            is_file = path.is_file() and (source / name).is_file()
            is_known = is_file and cmp(path, source / name, shallow=False)
        is_folder = path.is_dir() and not path.is_symlink()
        if not (is_known or is_folder):
            yield str(name)
