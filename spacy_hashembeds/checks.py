"""Checks of arguments, made when a model is built or a function called.

Each raises a ValueError, or of a type that is wrong a TypeError, which names the first
argument that is not as it should be, what it is and what it should be.
"""

import reprlib
from collections.abc import Sequence
from pathlib import Path
from types import UnionType

#: The most rows that a table may have, and the most numbers of a row. Far beyond what
#: is of use: a slip is named before memory is asked for.
MAX_ROWS = 2**31 - 1
MAX_WIDTH = 10**6

#: More layers on top of each other than anybody has trained.
MAX_DEPTH = 100


def check_integers(minimum: int, maximum: int | None = None, **arguments: int) -> None:
    """Check that arguments are integers, and neither too small nor too large."""
    bounds = f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"
    for name, value in arguments.items():
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or value < minimum or (maximum and value > maximum):
            raise ValueError(f"'{name}' should be {bounds}, but is {value!r}.")


def check_rows(names: Sequence[str], **arguments: Sequence[int]) -> None:
    """Check that arguments have a possible number of rows for each attribute."""
    for argument, rows in arguments.items():
        if not isinstance(rows, Sequence) or len(rows) != len(names):
            raise ValueError(
                f"'{argument}' should give one number for each of 'attrs', but is "
                f"{rows!r:.80} for {len(names)} attrs ({', '.join(names)})."
            )
        for name, table_rows in zip(names, rows, strict=True):
            try:
                check_integers(1, MAX_ROWS, **{argument: table_rows})
            except ValueError as e:
                raise ValueError(
                    f"The table for {name}: {e} To do without {name}, remove it from "
                    "'attrs' as well."
                ) from e


def check_choice(known: Sequence[str], **arguments: str) -> None:
    """Check that arguments are among known ones."""
    expected = " or ".join(map(repr, known))
    check_types(str, expected, **arguments)
    for name, value in arguments.items():
        if value not in known:
            raise ValueError(f"'{name}' should be {expected}, but is {value!r:.80}.")


def check_dropout(dropout: float | None, *, name: str = "dropout") -> None:
    """Check a rate of dropout, which is the argument `name`."""
    if dropout is not None:
        check_shares("[0, 1) or null", **{name: dropout})


def check_shares(bounds: str = "[0, 1)", **arguments: float) -> None:
    """Check that arguments are shares of a whole, and none the whole itself."""
    for name, value in arguments.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value < 1):
            raise ValueError(f"'{name}' should be in {bounds}, but is {show(value)}.")


def check_types(types: type | UnionType, expected: str, **arguments: object) -> None:
    """Check that arguments are of these types, `expected` in words."""
    for name, value in arguments.items():
        if not isinstance(value, types):
            raise TypeError(f"'{name}' should be {expected}, but is {show(value)}.")


def show(value: object) -> str:
    """Show a value in an error: of what is long, a part or its type."""
    # Docs and others show their whole text.
    is_plain = value is None or isinstance(value, str | bytes | int | float | Path)
    return reprlib.repr(value) if is_plain else f"of type {type(value).__name__}"
