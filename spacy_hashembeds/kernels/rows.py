"""Describes embedding tables to the kernels: those of `embed.cu`, and compiled ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

#: An array of numpy's or on the GPU: CuPy has no types.
Array = Any

#: As in `rows.h`.
MAX_COLUMNS = 64

#: The struct Column of `rows.h`.
_COLUMN = np.dtype(
    [
        ("table", "u8"),
        ("symbols", "u8"),
        ("n_symbols", "u4"),
        ("unk", "u4"),
        ("has_symbols", "u4"),
        ("seed", "u4"),
        ("num_hashes", "u4"),
        ("n_hashed", "u4"),
        ("first_row", "u4"),
        ("first_slot", "u4"),
    ]
)
_COLUMNS = np.dtype([("column", _COLUMN, (MAX_COLUMNS,))])


@dataclass(frozen=True)
class Hashing:
    """Finds the rows of a key by MurmurHash3: row k is `murmur(key, seed)[k] % rows`.

    seed (int): The hash seed, an unsigned 32-bit integer.
    num_hashes (int): How many rows each key has, 1 to 4.
    """

    seed: int
    num_hashes: int


@dataclass(frozen=True)
class Lookup:
    """Finds the row of a key among symbols.

    symbols (Array): The keys that have a row of their own, in ascending order. *Shape:*
        `(n,)`, uint64, contiguous.
    unk (int): The row of all other keys; symbols have the rows around it.
    """

    symbols: Array
    unk: int

    @property
    def num_hashes(self) -> int:
        """How many rows each key has."""
        return 1


@dataclass(frozen=True)
class Hybrid:
    """Finds the row of a key among symbols, or else by hashing to the rows after these.

    symbols (Array): The keys that have a row of their own, in ascending order. *Shape:*
        `(n,)`, uint64, contiguous.
    seed (int): The hash seed, an unsigned 32-bit integer.
    num_hashes (int): How many rows each other key has, 1 to 4.
    n_hashed (int): How many rows there are for them.
    """

    symbols: Array
    seed: int
    num_hashes: int
    n_hashed: int


#: Finds the rows of keys.
Finder = Hashing | Lookup | Hybrid


class Table(NamedTuple):
    """A table of rows, or of their gradients, and how its rows are found.

    array (Array): *Shape:* `(rows, width)`, float32, contiguous.
    finder (Finder): Finds the rows of keys.
    """

    array: Array
    finder: Finder


def describe(tables: Sequence[Table]) -> tuple[np.ndarray, int]:
    """Describe tables to the kernels, and count the rows that a token has in them all.

    RETURNS (tuple): An array of one struct, which CuPy passes by its value; the count.
    """
    columns = []
    first_row = first_slot = 0
    for table in tables:
        array, finder = table
        places = (first_row, first_slot)
        columns.append((get_address(array), *_describe_finder(*table), *places))
        first_row += len(array)
        first_slot += finder.num_hashes
    described = np.zeros(1, dtype=_COLUMNS)
    described["column"][0, : len(columns)] = columns
    return described, first_slot


def _describe_finder(array: Array, finder: Finder) -> tuple:
    """Say how rows are found: what Column has between the table and its places."""
    if isinstance(finder, Hashing):
        return 0, 0, 0, False, finder.seed, finder.num_hashes, len(array)
    symbols = get_address(finder.symbols), len(finder.symbols)
    if isinstance(finder, Lookup):
        return *symbols, finder.unk, True, 0, 1, 0
    hashing = finder.seed, finder.num_hashes, finder.n_hashed
    return *symbols, len(finder.symbols), True, *hashing


def get_address(array: Array) -> int:
    """Say where an array lies in memory: that of the GPU, or that of the processor."""
    if isinstance(array, np.ndarray):
        return array.ctypes.data
    return array.data.ptr
