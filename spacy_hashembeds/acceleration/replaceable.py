"""Whether a folder holds a saved pipeline and nothing else that could be lost."""

from collections.abc import Callable, Container, Iterator
from filecmp import cmp
from pathlib import Path
from typing import Any

from spacy.util import load_config

from ..files import read_json

#: What spaCy saves beside the components, in files or folders of these names.
_SAVED = {"config.cfg", "meta.json", "tokenizer", "vocab"}
#: What its own components save in theirs, and the vocab.
_SAVED_BELOW = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "vectors", "vectors.cfg"),
}


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Refuse to write a folder if anything would be lost but copies of the source's
    files, and with `force` the pipeline that is there.
    """
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
                is_known = below.name in _SAVED_BELOW or (source / name).is_file()
                if not below.is_dir() and not is_known:
                    yield str(name)


def _is_copy(path: Path, original: Path) -> bool:
    if path.is_dir():
        return original.is_dir() and all(
            _is_copy(inside, original / inside.name) for inside in path.iterdir()
        )
    # os.stat of a link to nothing fails
    return original.is_file() and path.is_file() and cmp(path, original, shallow=False)
