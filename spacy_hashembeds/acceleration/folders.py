"""Copy the folders of pipelines, and replace them without losing other files."""

import os
import shutil
from collections.abc import Container, Iterator
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from spacy.language import Language

from ..files import read_json, walk_folder
from ..loading import load_config

#: Files and folders of spaCy next to the components.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}
#: Folders and files of spaCy in the folders of components and of the vocab.
_SUBFOLDERS = {"kb", "lookups"}
_COMPONENT_FILES = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "vectors", "vectors.cfg"),
}


def find_source(nlp: Language, model: str | Path, output: Path) -> Path:
    """Return the pipeline's folder. Raise ValueError if `output` overlaps with it."""
    if nlp.path is None:
        raise ValueError(f"'{model}' should be a saved pipeline, but has no folder.")
    source, target = (Path(os.path.realpath(path)) for path in (nlp.path, output))
    if source == target or source in target.parents or target in source.parents:
        raise ValueError(
            f"The output folder '{output}' should not overlap with the old pipeline's "
            f"folder '{source}'. Choose another one."
        )
    return source


def copy_folder(source: Path, target: Path) -> None:
    """Copy files and link targets, without modes: packages may be read-only."""
    for path, names in walk_folder(source):
        place = target / path.relative_to(source)
        place.mkdir()
        for name in names:
            shutil.copyfile(path / name, place / name)


def check_free(output: Path, *, force: bool) -> bool:
    """True if `output` is missing or empty. Otherwise, without `force`, raise
    FileExistsError.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return True
    if not force:
        raise FileExistsError(
            f"'{output}' exists and is not empty. Choose another folder, or replace "
            "the pipeline in it (--force)."
        )
    return False


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Check that `output` is free or, with `force`, holds nothing but a pipeline."""
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
        found = f"also holds {', '.join(foreign[:5])}{more}" if foreign else "does not"
        raise FileExistsError(
            f"To be replaced, '{output}' should hold a spaCy pipeline, with config.cfg "
            f"and meta.json, and no other files, but {found}. Choose another folder, "
            "or remove these files yourself."
        )


def _find_foreign(folder: Path, source: Path, own: Container[str]) -> Iterator[str]:
    """Find files that are neither in the source nor saved by spaCy."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        top, *below = name.parts
        if top in own:
            is_saved = not below or below[-1] in _COMPONENT_FILES
            is_saved = is_saved and _SUBFOLDERS.issuperset(below[:-1])
            is_known = is_saved or (source / name).is_file()
        else:
            # `cmp` fails on broken links
            is_file = path.is_file() and (source / name).is_file()
            is_known = is_file and cmp(path, source / name, shallow=False)
        is_folder = path.is_dir() and not path.is_symlink()
        if not (is_known or is_folder):
            yield str(name)
