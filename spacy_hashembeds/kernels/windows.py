"""Rows with their neighbours, as a convolution sees them.

Texts lie one after the other in an array, with rows of zeros before the first, between
them and after the last. Convolutions make of these zeros what a text sees beyond its
ends. The later a convolution, the fewer of them the rest of the convolutions still see.

Arrays are contiguous, rows of float32 and their numbers of int64.
"""

import numpy as np
from numpy.typing import NDArray

from . import compiled

#: Rows at a time whose windows stay in the processor's cache.
BLOCK = 512


def find_window_rows(lengths: NDArray, pad: int, margin: int) -> NDArray:
    """Find the rows up to `margin` from a text, which is up to `pad`, in order.

    `pad` rows of zeros lie between two texts and at both ends; each text has a row.
    """
    if len(lengths) == 1:
        return np.arange(pad - margin, pad + margin + int(lengths[0]), dtype="int64")
    between = min(pad, 2 * margin)
    n = int(lengths.sum()) + (len(lengths) - 1) * between + 2 * margin
    rows = np.arange(pad - margin, pad - margin + n, dtype="int64")
    if between < pad:
        # as many are left out between two texts
        rows += np.repeat(np.arange(len(lengths)) * (pad - between), lengths + between)
    return rows


def copy_windows(X: NDArray, rows: NDArray, window_size: int) -> NDArray:
    """Copy rows, each with its neighbours on both sides, which are all in X.

    A view in which rows overlap would need no copy, but takes longer to make for short
    texts, and below numpy 2.3 its products are left to a plain loop.

    *Shapes:* `(n, w)` and `(m,)` to `(m, (2 * window_size + 1) * w)`.
    """
    if compiled.kernels is not None:
        return compiled.kernels.copy_windows(X, rows, window_size)
    neighbours = np.arange(-window_size, window_size + 1)
    windows = X.take(rows[:, None] + neighbours, axis=0)
    return windows.reshape(len(rows), len(neighbours) * X.shape[1])


def add_windows(
    dX: NDArray, rows: NDArray, window_size: int, d_windows: NDArray
) -> None:
    """Add to dX: backpropagates `copy_windows` of rows that are each there once."""
    if compiled.kernels is not None:
        compiled.kernels.add_windows(dX, rows, window_size, d_windows)
        return
    d_windows = d_windows.reshape(len(rows), 2 * window_size + 1, dX.shape[1])
    for neighbour in range(2 * window_size + 1):
        dX[rows + (neighbour - window_size)] += d_windows[:, neighbour]
