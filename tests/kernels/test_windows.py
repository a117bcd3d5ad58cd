"""Windows against Thinc's own operations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import NumpyOps

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.windows import add_windows, copy_windows

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
