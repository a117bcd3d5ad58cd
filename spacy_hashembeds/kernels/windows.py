"""Rows with their neighbours, as a convolution sees them."""

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

#: So many rows at a time, their windows stay in the processor's cache.
BLOCK = 256


def get_windows(X: NDArray, window_size: int) -> NDArray:
    """Show each row with its neighbours on both sides, zeros beyond the ends.

    X (NDArray): *Shape:* `(n, w)`.
    RETURNS (NDArray): A view of a padded copy: rows overlap. *Shape:*
        `(n, (2 * window_size + 1) * w)`.
    """
    n, width = X.shape
    padded = np.zeros((n + 2 * window_size, width), dtype=X.dtype)
    padded[window_size : window_size + n] = X
    n_columns = (2 * window_size + 1) * width
    return sliding_window_view(padded.reshape(-1), n_columns)[::width]


def copy_windows(windows: NDArray, block: slice) -> NDArray:
    """Copy a block of windows, since rows overlap: to multiply it.

    Below numpy 2.3, products of overlapping rows are left to a plain loop, which takes
    ten times as long as BLAS. The copy takes a hundredth.
    """
    return np.ascontiguousarray(windows[block])


def sum_windows(dY: NDArray, window_size: int) -> NDArray:
    """Give each row the sum of what its windows say: backpropagates `get_windows`.

    dY (NDArray): *Shape:* `(n, (2 * window_size + 1) * w)`.
    RETURNS (NDArray): *Shape:* `(n, w)`.
    """
    n, n_columns = dY.shape
    n_neighbours = 2 * window_size + 1
    dY = dY.reshape(n, n_neighbours, n_columns // n_neighbours)
    padded = np.zeros((n + 2 * window_size, dY.shape[2]), dtype=dY.dtype)
    for neighbour in range(n_neighbours):
        padded[neighbour : neighbour + n] += dY[:, neighbour]
    return padded[window_size : window_size + n]


def split_blocks(n: int) -> Iterator[slice]:
    """Cut rows into blocks. YIELDS (slice): One after the other."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))
