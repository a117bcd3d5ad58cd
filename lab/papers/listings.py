"""What other commands write beside the results of trials, read for a page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from spacy_hashembeds.files import quote, read_json

from ..trials.results import TrialKey

_Content = TypeVar("_Content")


def find_listings(results: str | Path, name: str) -> Iterator[tuple[TrialKey, Path]]:
    """Find the files of one name that lie beside results.

    results (str | Path): The folder of results.
    name (str): The name, e.g. "importance.json".
    YIELDS (tuple[TrialKey, Path]): The trials that a file is of, and the file.
    """
    for path in sorted(Path(results).glob(f"*/*/*/{name}")):
        yield TrialKey(*path.parts[-4:-1]), path


def read_listing(
    path: Path, command: str, read: Callable[[dict[str, Any]], _Content]
) -> _Content:
    """Read what a command has written.

    path (Path): The JSON file.
    command (str): The command, e.g. "python -m lab importance".
    read (Callable[[dict[str, Any]], Any]): Takes what is needed, and raises ValueError
        for what can't be: see `get_part`.
    RAISES (ValueError): If the file is damaged or of another kind. Names it.
    RETURNS (Any): What `read` returns.
    """
    try:
        return read(read_json(path))
    except ValueError as error:
        raise ValueError(
            f"'{path}' should hold what `{command}` writes, but is damaged or of "
            f"another kind: {error}. Write it again, or remove it."
        ) from error


def get_part(content: Any, key: str, kind: type | tuple[type, ...]) -> Any:
    """Get a part of what was read.

    content (Any): What should be an object.
    key (str): The part's name.
    kind (type | tuple[type, ...]): What it should be. True is no number.
    RAISES (ValueError): If it is something else.
    """
    value = content.get(key) if isinstance(content, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{quote(key)} is {quote(value)}")
    return value
