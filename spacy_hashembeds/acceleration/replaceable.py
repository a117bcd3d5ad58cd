"""Whether a folder holds a saved pipeline and nothing else that could be lost."""

from filecmp import cmp
from pathlib import Path
from typing import Any

from spacy.util import load_config

from ..files import read_json

#: What spaCy saves beside the components, in files or folders of these names.
_CONFIG, _META = "config.cfg", "meta.json"
_SAVED = {_CONFIG, _META, "tokenizer", "vocab"}
#: What its own components save in theirs, and the vocab.
_SAVED_BELOW = {
    *("cfg", "contents", "key2row", "lookups.bin", "model", "moves", "patterns"),
    *("patterns.jsonl", "strings.json", "vectors", "vectors.cfg"),
}
#: How many of the files and folders an error names that are in the way.
_N_NAMED = 5


def check_replaceable(output: Path, source: Path, *, force: bool) -> None:
    """Check that a folder may be written, or replaced, without a loss.

    output (Path): The folder. It may be missing or empty.
    source (Path): The folder of the pipeline that is to be saved there. Copies of its
        files are no loss.
    force (bool): Whether a pipeline may be replaced.
    RAISES (FileExistsError): If there is something that is not to be replaced.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not force:
        raise FileExistsError(
            f"There is something in '{output}' already. Name another folder, or ask "
            "for it to be replaced (--force)."
        )
    for name, is_own in ((_CONFIG, _is_config), (_META, _is_meta)):
        if not is_own(output / name):
            raise FileExistsError(
                f"'{output}' should be a pipeline to replace, but has no {name} of "
                "spaCy's. Name another folder, or remove it yourself."
            )
    if foreign := _find_foreign(output, source):
        more = f" and {len(foreign) - _N_NAMED} more" * (len(foreign) > _N_NAMED)
        raise FileExistsError(
            f"'{output}' should hold nothing but the pipeline to replace, but also "
            f"holds {', '.join(foreign[:_N_NAMED])}{more}. Name another folder, or "
            "move that elsewhere."
        )


def _is_config(path: Path) -> bool:
    return "nlp" in _read_config(path)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return load_config(path)
    except (OSError, ValueError):
        return {}


def _is_meta(path: Path) -> bool:
    try:
        return "spacy_version" in read_json(path)
    except (OSError, ValueError):
        return False


def _find_foreign(folder: Path, source: Path) -> list[str]:
    own = {*_SAVED, *_read_config(folder / _CONFIG).get("components", {})}
    foreign = []
    for path in folder.iterdir():
        if path.name not in own and not _is_copy(path, source / path.name):
            foreign.append(path.name)
        elif path.name in own and path.is_dir():
            foreign += _find_foreign_below(path, folder, source)
    return sorted(foreign)


def _find_foreign_below(place: Path, folder: Path, source: Path) -> list[str]:
    """Find what no component of spaCy's saves, nor those of the source."""
    names = (path.relative_to(folder) for path in place.rglob("*") if not path.is_dir())
    return [
        str(name)
        for name in names
        if name.name not in _SAVED_BELOW and not (source / name).is_file()
    ]


def _is_copy(path: Path, original: Path) -> bool:
    if path.is_dir():
        return original.is_dir() and all(
            _is_copy(inside, original / inside.name) for inside in path.iterdir()
        )
    # os.stat of a link to nothing fails
    return original.is_file() and path.is_file() and cmp(path, original, shallow=False)
