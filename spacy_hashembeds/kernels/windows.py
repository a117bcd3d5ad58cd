"""Rows with their neighbours, as a convolution sees them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: So many rows at a time, their windows stay in the processor's cache.
BLOCK = 256


def pad_rows(X: NDArray, window_size: int) -> NDArray:
    """Put rows of zeros before the first row and after the last.

    X (NDArray): *Shape:* `(n, w)`.
    RETURNS (NDArray): *Shape:* `(n + 2 * window_size, w)`.
    """
    n, width = X.shape
    padded = np.zeros((n + 2 * window_size, width), dtype=X.dtype)
    padded[window_size : window_size + n] = X
    return padded


def copy_windows(padded: NDArray, window_size: int, block: slice) -> NDArray:
    """Copy a block of rows, each with its neighbours on both sides.

    A view in which rows overlap would need no copy, but takes longer to make for short
    texts, and below numpy 2.3 its products are left to a plain loop.

    padded (NDArray): What `pad_rows` gives. *Shape:* `(n + 2 * window_size, w)`.
    block (slice): Rows of the n, from `split_blocks`.
    RETURNS (NDArray): *Shape:* `(rows of the block, (2 * window_size + 1) * w)`.
    """
    n, width = block.stop - block.start, padded.shape[1]
    n_neighbours = 2 * window_size + 1
    windows = np.empty((n, n_neighbours, width), dtype=padded.dtype)
    for neighbour in range(n_neighbours):
        rows = slice(block.start + neighbour, block.stop + neighbour)
        windows[:, neighbour] = padded[rows]
    return windows.reshape(n, n_neighbours * width)


def sum_windows(dY: NDArray, window_size: int) -> NDArray:
    """Give each row the sum of what its windows say: backpropagates `copy_windows`.

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
