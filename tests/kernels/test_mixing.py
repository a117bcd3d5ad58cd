"""Maxout and layer normalisation against Thinc's own layers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import LayerNorm, Maxout

from spacy_hashembeds.kernels.mixing import begin_maximum, begin_normalize, pieces_first

shapes = {"n": st.integers(1, 9), "nO": st.integers(2, 7), "nP": st.integers(1, 4)}


@given(**shapes, nI=st.integers(1, 5), seed=st.integers(0, 99))
def test_maxout_equals_thinc(n, nO, nP, nI, seed):
    state = np.random.default_rng(seed)
    # few different numbers, so that pieces are equal now and then
    X = state.integers(-2, 3, (n, nI)).astype("f")
    layer = Maxout(nO, nI, nP=nP).initialize()
    layer.set_param("W", state.integers(-1, 2, (nO, nP, nI)).astype("f"))
    layer.set_param("b", state.integers(-1, 2, (nO, nP)).astype("f"))
    expected, backprop_thinc = layer.begin_update(X)
    W, b = pieces_first(layer.get_param("W"), layer.get_param("b"))
    Y = (X @ W.T + b).reshape(n, nP, nO)
    best, backprop = begin_maximum(Y)
    np.testing.assert_array_equal(best, expected)
    d_best = state.integers(-3, 4, (n, nO)).astype("f")
    expected_dX = backprop_thinc(d_best)
    dX = backprop(d_best).reshape(n, nP * nO) @ W
    np.testing.assert_array_equal(dX, expected_dX)


@given(n=shapes["n"], nO=shapes["nO"], seed=st.integers(0, 99))
def test_normalisation_equals_thinc(n, nO, seed):
    state = np.random.default_rng(seed)
    X, dY = state.normal(size=(2, n, nO)).astype("f")
    G, b = state.normal(size=(2, nO)).astype("f")
    layer = LayerNorm(nO).initialize()
    layer.set_param("G", G)
    layer.set_param("b", b)
    expected, backprop_thinc = layer.begin_update(X.copy())
    Y, backprop = begin_normalize(X, G, b)
    np.testing.assert_allclose(Y, expected, rtol=1e-4, atol=1e-5)
    expected_dX = backprop_thinc(dY.copy())
    scale = max(1, abs(expected_dX).max())
    dX, d_G, d_b = backprop(dY)
    np.testing.assert_allclose(dX / scale, expected_dX / scale, atol=1e-4)
    np.testing.assert_allclose(d_G, layer.get_grad("G"), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(d_b, layer.get_grad("b"), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("nP", [1, 3])
def test_weights_are_copied_whatever_the_layout(nP):
    """Who keeps a backward pass shall not hold the weights."""
    W, b = np.ones((2, nP, 4), dtype="f"), np.ones((2, nP), dtype="f")
    for copied, weights in zip(pieces_first(W, b), (W, b), strict=True):
        assert copied.flags.c_contiguous
        assert not np.shares_memory(copied, weights)


def test_inputs_are_left_alone():
    Y = np.random.default_rng(0).normal(size=(4, 3, 5)).astype("f")
    before = Y.copy()
    begin_maximum(Y)
    np.testing.assert_array_equal(Y, before)
