"""Sums of rows of a table, and their gradients added up."""

import numpy as np
from numpy.typing import NDArray
from thinc.api import NumpyOps

from . import compiled

NUMPY_OPS = NumpyOps()

_UNSIGNED = np.dtype("uint32")


def gather_add(table: NDArray, rows: NDArray) -> NDArray:
    """Sum rows of a table, as `thinc.api.Ops.gather_add`.

    Compiled, a row that is not there raises an IndexError.

    *Shapes:* `(n_rows, width)`, float32, and `(n, k)`, integers of 32 bits, to
    `(n, width)`, float32.
    """
    rows = _as_unsigned(rows)
    kernels = compiled.get_for(table)
    if kernels is not None:
        return kernels.gather_sums(table, rows)
    if not table.flags.behaved or len(rows) == 0:
        # Thinc's kernel refuses a table that is for reading only, such as a memory map
        # that worker processes share, and does not look at where it lies
        return table[rows].sum(axis=1)
    return NUMPY_OPS.gather_add(table, rows)


def scatter_add(d_table: NDArray, rows: NDArray, d_sums: NDArray) -> None:
    """Add to the rows of a contiguous array in place: backpropagates `gather_add`."""
    d_sums = compiled.lay_out(d_sums, d_sums.dtype)
    kernels = compiled.get_for(d_table, d_sums)
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
    return compiled.lay_out(rows, rows.dtype).view(_UNSIGNED)
