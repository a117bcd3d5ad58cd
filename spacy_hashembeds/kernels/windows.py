"""Windows of rows and their neighbors, for convolutions.

Texts are concatenated in an array, with rows of zeros as padding between and around
them. Convolutions also compute output for padding that later convolutions read.

Arrays are contiguous; rows are float32, and row indices int64.
"""

import numpy as np
from numpy.typing import NDArray

from . import compiled

#: Rows per block, whose windows fit into the processor's cache.
BLOCK = 512


def find_window_rows(lengths: NDArray, pad: int, margin: int) -> NDArray:
    """Find all rows at a distance of at most `margin` from a text, in ascending order.

    There are `pad` rows of zeros between texts and at both ends, with `margin <= pad`.
    Texts are not empty.
    """
    if len(lengths) == 1:
        return np.arange(pad - margin, pad + margin + int(lengths[0]), dtype="int64")
    between = min(pad, 2 * margin)
    n = int(lengths.sum()) + (len(lengths) - 1) * between + 2 * margin
    rows = np.arange(pad - margin, pad - margin + n, dtype="int64")
    if between < pad:
        # skip the rest of the padding
        rows += np.repeat(np.arange(len(lengths)) * (pad - between), lengths + between)
    return rows


def copy_windows(X: NDArray, rows: NDArray, window_size: int) -> NDArray:
    """Copy the windows of rows, which must not exceed X.

    A strided view would need no copy, but takes longer to make for short texts, and
    numpy before 2.3 computes its products in a plain loop.

    *Shapes:* `(n, w)` and `(m,)` to `(m, (2 * window_size + 1) * w)`.
    """
    if compiled.kernels is not None:
        return compiled.kernels.copy_windows(X, rows, window_size)
    neighbors = np.arange(-window_size, window_size + 1)
    windows = X.take(rows[:, None] + neighbors, axis=0)
    return windows.reshape(len(rows), len(neighbors) * X.shape[1])


def add_windows(
    dX: NDArray, rows: NDArray, window_size: int, d_windows: NDArray
) -> None:
    """Backpropagate `copy_windows` for distinct rows: add to dX in place."""
    if compiled.kernels is not None:
        compiled.kernels.add_windows(dX, rows, window_size, d_windows)
        return
    d_windows = d_windows.reshape(len(rows), 2 * window_size + 1, dX.shape[1])
    for neighbor in range(2 * window_size + 1):
        dX[rows + (neighbor - window_size)] += d_windows[:, neighbor]
