"""Folders of pipelines: copied, and replaced only where nothing else is lost."""

import os
import shutil
from collections.abc import Callable, Container, Iterator
from filecmp import cmp
from pathlib import Path
from typing import Any

from spacy.language import Language

from ..files import read_json
from ..loading import load_config

#: What spaCy saves beside the components, in files or folders of these names.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}
#: What its own components save in theirs, and the vocab, in it or in such folders.
_FOLDERS_BELOW = {"kb", "lookups"}
_SAVED_BELOW = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "vectors", "vectors.cfg"),
}


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


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Refuse to replace more than copies of the source, and with `force` a pipeline."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not force:
        raise FileExistsError(
            f"There is something in '{output}' already. Name another folder, or ask "
            "for it to be replaced (--force)."
        )
    config = _read(load_config, output / "config.cfg")
    meta = _read(read_json, output / "meta.json")
    found = {"config.cfg": "nlp" in config, "meta.json": "spacy_version" in meta}
    for name, is_own in found.items():
        if not is_own:
            raise FileExistsError(
                f"'{output}' should be a pipeline to replace, but has no {name} of "
                "spaCy's. Name another folder, or remove it yourself."
            )
    own = {*_SAVED, *config.get("components", {})}
    if foreign := sorted(_find_foreign(output, source, own)):
        more = f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""
        raise FileExistsError(
            f"'{output}' should hold nothing but the pipeline to replace, but also "
            f"holds {', '.join(foreign[:5])}{more}. Name another folder, or "
            "move that elsewhere."
        )


def _read(read: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any]:
    try:
        return read(path)
    except (OSError, ValueError):
        return {}


def _find_foreign(folder: Path, source: Path, own: Container[str]) -> Iterator[str]:
    """Find what neither spaCy saves, nor its components, nor the source has."""
    for path in folder.iterdir():
        if path.name not in own:
            if not _is_copy(path, source / path.name):
                yield path.name
        elif path.is_dir():
            for below in path.rglob("*"):
                name = below.relative_to(folder)
                *folders, last = below.relative_to(path).parts
                is_known = last in _SAVED_BELOW and _FOLDERS_BELOW.issuperset(folders)
                if not (below.is_dir() or is_known or (source / name).is_file()):
                    yield str(name)


def _is_copy(path: Path, original: Path) -> bool:
    if path.is_dir():
        return original.is_dir() and all(
            _is_copy(inside, original / inside.name) for inside in path.iterdir()
        )
    # os.stat of a link to nothing fails
    return original.is_file() and path.is_file() and cmp(path, original, shallow=False)
