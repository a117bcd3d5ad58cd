"""Windows against Thinc's own operations."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from thinc.api import NumpyOps

from spacy_hashembeds.kernels.windows import (
    BLOCK,
    get_windows,
    split_blocks,
    sum_windows,
)

OPS = NumpyOps()


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 3))
def test_windows_equal_thinc(n, width, window_size):
    state = np.random.default_rng(0)
    X = state.normal(size=(n, width)).astype("f")
    windows = get_windows(X, window_size)
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
