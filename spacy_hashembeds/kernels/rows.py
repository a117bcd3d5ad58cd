"""Embedding tables: descriptions for CPU and GPU kernels, and sums of rows."""

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

#: Array of numpy or CuPy.
Array = Any


@dataclass(frozen=True)
class Hashing:
    """Find rows by MurmurHash3: row k of a key is `murmur(key, seed)[k] % n`.

    The seed has 32 bits, and `num_hashes` is 1 to 4.
    """

    seed: int
    num_hashes: int


@dataclass(frozen=True)
class Lookup:
    """Find rows by lookup. Symbols have one row each, and other keys the row `unk`.

    symbols (Array): Contiguous and ascending. *Shape:* `(n,)`, uint64.
    """

    symbols: Array
    unk: int
    num_hashes = 1


Finder = Hashing | Lookup


class Table(NamedTuple):
    """Rows, or their gradients, `(n, width)`, float32, contiguous; and their finder."""

    array: Array
    finder: Finder


class Weights(NamedTuple):
    """A table of weights, `(n, num_hashes)`. The weights of a key are in the last row
    that the finder finds for the key.

    rehashes: True if the weighted rows are found by hashing the index of the row of
        weights instead of the key.
    """

    table: Table
    rehashes: bool


def describe_finder(table: Table) -> tuple[Array, int, int, int, int]:
    """Return the fields `symbols` to `n_hashed` of the struct in `rows.h`."""
    array, finder = table
    if isinstance(finder, Lookup):
        return finder.symbols, finder.unk, 0, 1, 0
    return None, 0, finder.seed, finder.num_hashes, len(array)


def is_on_gpu(ops: Ops) -> bool:
    """True if these are the ops of a GPU."""
    return isinstance(ops, _GPU_OPS)


def lay_out_array(array: NDArray, dtype: DTypeLike) -> NDArray:
    """Convert an array to the dtype and layout of kernels. Copy only if needed."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy()


def get_kernels_for(*arrays: NDArray) -> Any:
    """Get the compiled kernels if they accept these arrays, or None."""
    for array in arrays:
        flags = array.flags
        if not (array.dtype == _FLOAT and flags.c_contiguous and flags.aligned):
            return None
    return compiled.kernels


def gather_add(table: NDArray, rows: NDArray) -> NDArray:
    """Sum rows of a table, like `thinc.api.Ops.gather_add`.

    The compiled kernel raises an IndexError for rows out of bounds.

    *Shapes:* `(n_rows, width)`, float32, and `(n, k)`, integers of 32 bits, to
    `(n, width)`, float32.
    """
    rows = _as_unsigned(rows)
    kernels = get_kernels_for(table)
    if kernels is not None:
        return kernels.gather_sums(table, rows)
    if not table.flags.behaved or len(rows) == 0:
        # Thinc's kernel raises an error for read-only tables, such as memory maps that
        # worker processes share, and does not check alignment
        return table[rows].sum(axis=1)
    return NUMPY_OPS.gather_add(table, rows)


def scatter_add(d_table: NDArray, rows: NDArray, d_sums: NDArray) -> None:
    """Backpropagate `gather_add`: add to rows of a contiguous array in place."""
    d_sums = np.ascontiguousarray(d_sums)
    kernels = get_kernels_for(d_table, d_sums)
    if kernels is not None:
        kernels.scatter_sums(d_table, _as_unsigned(rows), d_sums)
        return
    # Thinc's kernel does not check that a table is aligned and writable
    scatter = NUMPY_OPS.scatter_add if d_table.flags.behaved else np.add.at
    for rows_of_sums in np.ascontiguousarray(rows.T, dtype="int32"):
        scatter(d_table, rows_of_sums, d_sums)


def _as_unsigned(rows: NDArray) -> NDArray:
    """View rows as unsigned. Negative rows become out of bounds."""
    if rows.dtype != _UNSIGNED:
        rows = rows.astype("int32", copy=False, casting="same_kind")
    return np.ascontiguousarray(rows).view(_UNSIGNED)


def split(X: Any, lengths: Sequence[int]) -> list[Any]:
    """Split an array into consecutive parts of these lengths."""
    return [X[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]
