"""Maxout and layer normalization against Thinc's layers."""

import numpy as np
import pytest
from thinc.api import LayerNorm, Maxout, chain

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.mixing import add_finished, finish, finish_in_training
from spacy_hashembeds.layers.maxout import lay_out

from .paths import WIDTHS, Noted, both_paths


def make_layers(state, nI, nO, nP):
    maxout, layernorm = Maxout(nO, nI, nP=nP).initialize(), LayerNorm(nO).initialize()
    # few different numbers, so that some pieces are equal
    maxout.set_param("W", state.integers(-1, 2, (nO, nP, nI)).astype("f"))
    maxout.set_param("b", state.integers(-1, 2, (nO, nP)).astype("f"))
    for name in ("G", "b"):
        layernorm.set_param(name, state.normal(size=nO).astype("f"))
    return maxout, layernorm


def assert_close(actual, expected):
    scale = max(1, abs(expected).max())
    np.testing.assert_allclose(actual / scale, expected / scale, atol=1e-4)


@both_paths
@pytest.mark.parametrize("nP", [1, 2, 3, 5])
@pytest.mark.parametrize("nO", WIDTHS)
def test_rows_and_gradients_equal_thinc(kernels, nO, nP):
    state = np.random.default_rng(nO)
    maxout, layernorm = make_layers(state, 4, nO, nP)
    X = state.integers(-2, 3, (9, 4)).astype("f")
    dY, residual = state.normal(size=(2, 9, nO)).astype("f")
    expected, backprop_thinc = chain(maxout, layernorm).begin_update(X)
    expected_dX = backprop_thinc(dY.copy())
    W, norm = lay_out(maxout, layernorm)
    mixed, summed, gradients = X @ W.T, residual.copy(), norm.make_zeros()
    with compiled.using(noted := kernels and Noted(kernels)):
        Y, backprop = finish_in_training(mixed.copy(), norm)
        for _ in range(2):  # gradients add up
            dX = backprop(dY, gradients) @ W
        add_finished(mixed.copy(), norm, summed)
        assert_close(finish(mixed.copy(), norm), expected)
    names = ["begin_rows", *["backprop_rows"] * 2, *["finish_rows"] * 2]
    assert noted is None or noted.names == names
    assert_close(Y, expected)
    assert_close(summed - residual, expected)
    assert_close(dX, expected_dX)
    assert_close(gradients.bias / 2, maxout.get_grad("b").T.reshape(-1))
    assert_close(gradients.scale / 2, layernorm.get_grad("G"))
    assert_close(gradients.shift / 2, layernorm.get_grad("b"))


@pytest.mark.parametrize("nP", [1, 3])
def test_lay_out_copies_weights(nP):
    """A backward pass must not refer to the weights, which optimizers change."""
    maxout, layernorm = make_layers(np.random.default_rng(0), 4, 2, nP)
    W, norm = lay_out(maxout, layernorm)
    before = [array.copy() for array in (W, *norm)]
    for node in (maxout, layernorm):
        for name in node.param_names:
            node.get_param(name)[...] = 9
    for array, copied in zip((W, *norm), before, strict=True):
        assert array.flags.c_contiguous
        np.testing.assert_array_equal(array, copied)
