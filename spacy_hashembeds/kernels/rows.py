"""Embedding tables and how their rows are found, as kernels of CPU and GPU are told."""

from dataclasses import dataclass
from typing import Any, NamedTuple

#: An array of numpy's or on the GPU: CuPy has no types.
Array = Any


@dataclass(frozen=True)
class Hashing:
    """Finds the rows of a key by MurmurHash3, if it has no row of its own.

    Row k of h is `n + murmur(key, seed)[k] % h`: n symbols, `(n,)`, uint64, contiguous
    and ascending, have the first rows, and others `n_hashed`, by default all after. The
    seed is of 32 bits, and `num_hashes` 1 to 4.
    """

    seed: int
    num_hashes: int
    symbols: Array = None
    n_hashed: int | None = None


@dataclass(frozen=True)
class Lookup:
    """Finds a key among symbols, as of `Hashing`, with rows around the row `unk`."""

    symbols: Array
    unk: int
    num_hashes = 1


#: Finds the rows of keys.
Finder = Hashing | Lookup


class Table(NamedTuple):
    """Rows, or their gradients, `(n, width)`, float32, contiguous; their finder."""

    array: Array
    finder: Finder


class Weights(NamedTuple):
    """A table of weights, `(n, num_hashes)`: the last of a key's rows has its own.

    rehashes: Whether the number of this row, in the place of the key, chooses the rows
        that are weighted.
    """

    table: Table
    rehashes: bool


def describe_finder(table: Table) -> tuple[Array, int, int, int, int]:
    """Describe to kernels how rows are found: symbols to n_hashed of `rows.h`."""
    array, finder = table
    if isinstance(finder, Lookup):
        return finder.symbols, finder.unk, 0, 1, 0
    n = 0 if finder.symbols is None else len(finder.symbols)
    n_hashed = len(array) - n if finder.n_hashed is None else finder.n_hashed
    return finder.symbols, n, finder.seed, finder.num_hashes, n_hashed
