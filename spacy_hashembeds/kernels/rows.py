"""Embedding tables: how kernels of CPU and GPU find their rows, and sums of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from thinc.api import CupyOps, NumpyOps, Ops

from . import compiled

NUMPY_OPS = NumpyOps()

_FLOAT, _UNSIGNED = np.dtype("float32"), np.dtype("uint32")

_GPU_OPS: tuple[type[Ops], ...] = (CupyOps,)

#: Array of numpy's, or of CuPy's, which has no types.
Array = Any


@dataclass(frozen=True)
class Hashing:
    """Finds the rows of a key by MurmurHash3: row k is `murmur(key, seed)[k] % n`.

    The seed has 32 bits, and `num_hashes` is 1 to 4.
    """

    seed: int
    num_hashes: int


@dataclass(frozen=True)
class Lookup:
    """Finds the row of a key among symbols: these have the rows around `unk`, the row
    of all other keys.

    symbols (Array): Contiguous and ascending. *Shape:* `(n,)`, uint64.
    """

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
    return None, 0, finder.seed, finder.num_hashes, len(array)


def is_on_gpu(ops: Ops) -> bool:
    """Return True if a layer that has these ops is on a GPU."""
    return isinstance(ops, _GPU_OPS)


def lay_out_array(array: NDArray, dtype: DTypeLike) -> NDArray:
    """Get an array as kernels take it: a copy if it is of another type or layout."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy()


def get_kernels_for(*arrays: NDArray) -> Any:
    """Get the compiled kernels if they take these arrays, or None."""
    for array in arrays:
        flags = array.flags
        if not (array.dtype == _FLOAT and flags.c_contiguous and flags.aligned):
            return None
    return compiled.kernels


def gather_add(table: NDArray, rows: NDArray) -> NDArray:
    """Sum rows of a table, as `thinc.api.Ops.gather_add`.

    Compiled, a row that is not there raises an IndexError.

    *Shapes:* `(n_rows, width)`, float32, and `(n, k)`, integers of 32 bits, to
    `(n, width)`, float32.
    """
    rows = _as_unsigned(rows)
    kernels = get_kernels_for(table)
    if kernels is not None:
        return kernels.gather_sums(table, rows)
    if not table.flags.behaved or len(rows) == 0:
        # Thinc's kernel refuses a table that is for reading only, such as a memory map
        # that worker processes share, and does not look at where it lies
        return table[rows].sum(axis=1)
    return NUMPY_OPS.gather_add(table, rows)


def scatter_add(d_table: NDArray, rows: NDArray, d_sums: NDArray) -> None:
    """Add to the rows of a contiguous array in place: backpropagates `gather_add`."""
    d_sums = np.ascontiguousarray(d_sums)
    kernels = get_kernels_for(d_table, d_sums)
    if kernels is not None:
        kernels.scatter_sums(d_table, _as_unsigned(rows), d_sums)
        return
    # Thinc's kernel looks neither at where a table lies nor at whether it may write
    scatter = NUMPY_OPS.scatter_add if d_table.flags.behaved else np.add.at
    for rows_of_sums in np.ascontiguousarray(rows.T, dtype="int32"):
        scatter(d_table, rows_of_sums, d_sums)


def _as_unsigned(rows: NDArray) -> NDArray:
    """See rows as the kernels do. Negative ones become too large."""
    if rows.dtype != _UNSIGNED:
        rows = rows.astype("int32", copy=False, casting="same_kind")
    return np.ascontiguousarray(rows).view(_UNSIGNED)


def split(X: Any, lengths: Sequence[int]) -> list[Any]:
    """Split an array into the parts of sequences that lie one after another."""
    return [X[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]
