"""Copy the folders of pipelines, and replace them without losing other files."""

import errno
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from spacy.language import Language

from ..files import quote, read_json
from ..loading import load_config

#: Files and folders of spaCy next to the components.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}
#: Files of spaCy in the folders of components and of the vocab.
_COMPONENT_FILES = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "trees", "vectors", "vectors.cfg"),
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
    """Copy files and link targets, without modes: packages may be read-only. Raise an
    OSError for a link to a folder above it, which may contain the target.
    """
    for folder, _, names in os.walk(source, followlinks=True):
        if os.path.realpath(folder) in map(os.path.realpath, Path(folder).parents):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), folder)
        place = target / Path(folder).relative_to(source)
        place.mkdir()
        for name in names:
            shutil.copyfile(Path(folder, name), place / name)


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
    own: set[str] = set()
    with suppress(OSError, ValueError):
        config = load_config(output / "config.cfg")
        meta = read_json(output / "meta.json")
        if "nlp" in config and "spacy_version" in meta:
            own = {*_SAVED, *config.get("components", {})}
    others = sorted(_find_others(output, source, own)) if own else []
    if not own or others:
        found = f"also holds {quote(others)}" if own else "does not"
        raise FileExistsError(
            f"To be replaced, '{output}' should hold a spaCy pipeline, with config.cfg "
            f"and meta.json, and no other files, but {found}. Choose another folder, "
            "or remove these files yourself."
        )


def _find_others(output: Path, source: Path, own: Collection[str]) -> Iterator[str]:
    """Find files that neither spaCy saved nor `copy_folder` writes again."""
    for path in output.rglob("*"):
        name = path.relative_to(output)
        twin = source / name
        if path.is_dir() and not path.is_symlink():
            continue
        if name.parts[0] in own:
            is_saved = len(name.parts) == 1 or path.name in _COMPONENT_FILES
            is_known = is_saved or twin.is_file()
        else:  # such as a license; `cmp` fails on broken links
            are_files = path.is_file() and twin.is_file()
            is_known = are_files and cmp(path, twin, shallow=False)
        if not is_known:
            yield str(name)
