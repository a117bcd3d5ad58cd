"""Windows against Thinc's own operations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import NumpyOps

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.windows import add_windows, copy_windows, find_window_rows

from .paths import both_paths

OPS = NumpyOps()


@both_paths
@given(n=st.integers(1, 9), width=st.integers(1, 5), window_size=st.integers(0, 3))
def test_windows_equal_thinc(kernels, n, width, window_size):
    state = np.random.default_rng(0)
    X = state.normal(size=(n, width)).astype("f")
    padded = OPS.flatten([X], pad=window_size)
    rows = np.arange(window_size, window_size + n)
    with compiled.using(kernels):
        windows = copy_windows(padded, rows, window_size)
    np.testing.assert_array_equal(windows, OPS.seq2col(X, window_size))
    dY = state.normal(size=windows.shape).astype("f")
    dX = np.ones_like(padded)
    with compiled.using(kernels):
        add_windows(dX, rows, window_size, dY)
    expected = OPS.backprop_seq2col(dY, window_size) + 1
    np.testing.assert_allclose(dX[rows], expected, atol=1e-5)


@both_paths
def test_windows_are_no_view_in_which_rows_overlap(kernels):
    """numpy 2.0 to 2.2 leave products of such views to a plain loop."""
    with compiled.using(kernels):
        windows = copy_windows(np.ones((6, 3), dtype="f"), np.arange(1, 5), 1)
    assert windows.flags.c_contiguous
    assert windows.strides == (9 * 4, 4)


@both_paths
@pytest.mark.parametrize(
    ("shape", "rows"), [((0, 2), []), ((5, 2), []), ((0, 0), []), ((5, 0), [1, 3])]
)
def test_where_there_is_nothing_to_copy(kernels, shape, rows):
    X, rows = np.ones(shape, dtype="f"), np.array(rows, dtype="int64")
    with compiled.using(kernels):
        windows = copy_windows(X, rows, 1)
        add_windows(X, rows, 1, windows)
    assert windows.shape == (len(rows), 3 * shape[1])
    assert windows.dtype == "float32"
    assert (X == 1).all()


@both_paths
@pytest.mark.parametrize("dtype", ["int32", ">i8"])
def test_rows_of_other_types(kernels, dtype):
    X = np.arange(10, dtype="f").reshape(5, 2)
    rows = np.array([3, 1], dtype=dtype)
    with compiled.using(kernels):
        windows = copy_windows(X, rows, 1)
        add_windows(X, rows, 1, windows)
    np.testing.assert_array_equal(windows, [range(4, 10), range(6)])
    np.testing.assert_array_equal(X[1:4].ravel(), [4, 6, 12, 15, 12, 14])


@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    pad=st.integers(0, 6),
    data=st.data(),
)
def test_rows_in_texts_or_next_to_them_are_found(lengths, pad, data):
    margin = data.draw(st.integers(0, pad))
    n = sum(lengths) + (len(lengths) + 1) * pad
    ends = np.cumsum([length + pad for length in lengths])
    texts = [
        row
        for end, length in zip(ends, lengths, strict=True)
        for row in range(end - length, end)
    ]
    expected = [row for row in range(n) if min(abs(row - t) for t in texts) <= margin]
    assert find_window_rows(np.array(lengths), pad, margin).tolist() == expected
