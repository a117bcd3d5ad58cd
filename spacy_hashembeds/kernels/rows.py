"""Embedding tables and how their rows are found, as kernels of CPU and GPU are told."""

from dataclasses import dataclass
from typing import Any, NamedTuple

#: An array of numpy's or on the GPU: CuPy has no types.
Array = Any


@dataclass(frozen=True)
class Hashing:
    """Finds the rows of a key by MurmurHash3, if it has no row of its own.

    With n symbols, row k of h is `n + murmur(key, seed)[k] % h`.

    seed (int): An unsigned 32-bit integer.
    num_hashes (int): How many rows each key has, 1 to 4.
    symbols (Array, optional): The keys that have a row of their own, the first ones, in
        ascending order. *Shape:* `(n,)`, uint64, contiguous.
    n_hashed (int, optional): How many rows the others have: by default, all after.
    """

    seed: int
    num_hashes: int
    symbols: Array = None
    n_hashed: int | None = None


@dataclass(frozen=True)
class Lookup:
    """Finds the row of a key among symbols, which are as those of `Hashing`.

    unk (int): The row of all other keys; symbols have the rows around it.
    """

    symbols: Array
    unk: int
    num_hashes = 1


#: Finds the rows of keys.
Finder = Hashing | Lookup


class Table(NamedTuple):
    """A table of rows, or of their gradients, and how its rows are found.

    array (Array): *Shape:* `(rows, width)`, float32, contiguous.
    """

    array: Array
    finder: Finder


def describe_finder(table: Table) -> tuple[Array, int, int, int, int]:
    """Describe to kernels how rows are found: symbols to n_hashed of `rows.h`."""
    array, finder = table
    if isinstance(finder, Lookup):
        return finder.symbols, finder.unk, 0, 1, 0
    n = 0 if finder.symbols is None else len(finder.symbols)
    n_hashed = len(array) - n if finder.n_hashed is None else finder.n_hashed
    return finder.symbols, n, finder.seed, finder.num_hashes, n_hashed
