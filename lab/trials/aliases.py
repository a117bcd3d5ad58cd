"""The aliases of a YAML file, checked before anybody follows them."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from srsly.ruamel_yaml import SafeLoader, parse
from srsly.ruamel_yaml.error import YAMLError
from srsly.ruamel_yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    ScalarEvent,
)

from spacy_hashembeds.files import quote

#: Values in a file, an alias counted as all that it stands for.
MAX_VALUES = 100_000

#: Collections in each other, as they are written.
MAX_DEPTH = 50


def check_aliases(path: Path) -> None:
    """Refuse a YAML file that has no end, or hardly, once each alias is replaced by
    what it stands for. All else that may be wrong with it is left to its reader, which
    would follow the aliases.

    path (Path): The file.
    RAISES (ValueError): If an alias stands in what it stands for, or if there are more
        than `MAX_VALUES` values, or more than `MAX_DEPTH` collections in each other.
    """
    with suppress(YAMLError, UnicodeError), path.open(encoding="utf8") as file:
        _count_values(parse(file, Loader=SafeLoader))


def _count_values(events: Iterable[Any]) -> None:
    sizes: dict[str, int] = {}
    total = 0
    starts: list[tuple[str | None, int]] = []  # of the collections that are open
    for event in events:
        if isinstance(event, AliasEvent):
            total += _get_size(event.anchor, sizes, starts)
        elif isinstance(event, ScalarEvent):
            total += 1
        elif isinstance(event, CollectionStartEvent):
            starts.append((event.anchor, total))
            sizes.pop(event.anchor, None)  # an anchor may be given anew
        elif isinstance(event, CollectionEndEvent):
            anchor, start = starts.pop()
            total += 1
            if anchor is not None:
                sizes[anchor] = total - start
        _check_limits(total, len(starts))


def _get_size(
    anchor: str, sizes: dict[str, int], starts: list[tuple[str | None, int]]
) -> int:
    if any(anchor == name for name, _ in starts) and anchor not in sizes:
        raise ValueError(
            f"The anchor {quote(anchor)} refers to itself. Write out what is meant."
        )
    return sizes.get(anchor, 1)


def _check_limits(total: int, depth: int) -> None:
    if total > MAX_VALUES:
        raise ValueError(
            f"It has more than {MAX_VALUES:,} values, each alias counted as what it "
            "stands for. Write out what is meant."
        )
    if depth > MAX_DEPTH:
        raise ValueError(f"It has more than {MAX_DEPTH} collections in each other.")
