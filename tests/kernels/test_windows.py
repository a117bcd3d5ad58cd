"""Windows against Thinc's own operations."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from thinc.api import NumpyOps

from spacy_hashembeds.kernels.windows import (
    BLOCK,
    copy_windows,
    pad_rows,
    split_blocks,
    sum_windows,
)

OPS = NumpyOps()


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 3))
def test_windows_equal_thinc(n, width, window_size):
    state = np.random.default_rng(0)
    X = state.normal(size=(n, width)).astype("f")
    padded = pad_rows(X, window_size)
    blocks = [slice(0, n // 2), slice(n // 2, n)]
    windows = np.vstack([copy_windows(padded, window_size, b) for b in blocks])
    np.testing.assert_array_equal(windows, OPS.seq2col(X, window_size))
    dY = state.normal(size=windows.shape).astype("f")
    np.testing.assert_allclose(
        sum_windows(dY, window_size), OPS.backprop_seq2col(dY, window_size), atol=1e-5
    )


@given(st.integers(0, 3 * BLOCK))
@example(1)
@example(BLOCK - 1)
@example(BLOCK)
@example(BLOCK + 1)
@example(2 * BLOCK + 1)
def test_blocks_cover_all_rows_once(n):
    rows = [row for block in split_blocks(n) for row in range(n)[block]]
    assert rows == list(range(n))
    assert all(block.stop - block.start <= BLOCK for block in split_blocks(n))


def test_windows_are_no_view_in_which_rows_overlap():
    """numpy 2.0 to 2.2 leave products of such views to a plain loop."""
    windows = copy_windows(pad_rows(np.ones((4, 3), dtype="f"), 1), 1, slice(0, 4))
    assert windows.flags.c_contiguous
    assert windows.strides == (9 * 4, 4)
