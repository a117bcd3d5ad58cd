"""`with_distinct` around layers that are not ours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Embed, HashEmbed, Maxout, Model, chain, fix_random_seed

from spacy_hashembeds.layers.with_distinct import with_distinct

from ..toy_embedders import get_gradients


def build_embed() -> Model:
    return Embed(6, 5)


def build_deep() -> Model:
    return chain(HashEmbed(4, 9, seed=3), Maxout(6, nP=2, normalize=True))


def build_column() -> Model:
    return HashEmbed(6, 7, seed=3, column=1)


def run(model, keys, dY):
    """Give the output, the gradient of the keys, and those of the weights."""
    for _ in range(2):  # gradients add up
        Y, backprop = model.begin_update(keys)
        dX = backprop(dY.copy())
    return Y, dX, get_gradients(model)


@pytest.mark.parametrize("build", [build_embed, build_deep, build_column])
@given(n=st.integers(1, 40), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_it_computes_what_the_layer_computes(build, n, seed):
    state = np.random.default_rng(seed)
    shape = (n, 3) if build is build_column else (n,)
    keys = state.integers(0, 5, shape).astype("uint64")
    dY = state.normal(size=(n, 6)).astype("f")
    results = []
    for wrap in (lambda layer: layer, with_distinct):
        fix_random_seed(0)
        model = wrap(build()).initialize(X=keys)
        np.testing.assert_allclose(model.predict(keys), run(model, keys, dY * 0)[0])
        for node in model.walk():
            for name in node.grad_names:
                node.set_grad(name, node.get_grad(name) * 0)
        results.append(run(model, keys, dY))
    (expected, _, expected_grads), (Y, dX, grads) = results
    np.testing.assert_allclose(Y, expected, atol=1e-5)
    assert dX.shape == keys.shape
    assert not dX.any()
    assert len(grads) == len(expected_grads) > 0
    for grad, expected_grad in zip(grads, expected_grads, strict=True):
        np.testing.assert_allclose(grad, expected_grad, atol=1e-3)


def build_noting(given: list) -> Model:
    """A layer that notes the keys it is given, and the gradients."""

    def forward(model, keys, is_train):
        given.append(keys)
        return np.ones((len(keys), 2), dtype="f"), given.append

    return Model("noting", forward, dims={"nO": 2})


@pytest.mark.parametrize(
    ("keys", "expected", "counts"),
    [
        (np.array([3, 0, 3, 3], dtype="uint64"), [3, 0], [3, 1]),
        (np.array([[-1, 2], [2, -1], [-1, 2]], "int32"), [[-1, 2], [2, -1]], [2, 1]),
    ],
)
def test_the_layer_is_given_each_key_once(keys, expected, counts):
    given_to_layer = []
    model = with_distinct(build_noting(given_to_layer))
    Y, backprop = model.begin_update(keys)
    assert backprop(Y).shape == keys.shape
    values, d_values = given_to_layer
    assert (values.tolist(), values.dtype) == (expected, keys.dtype)
    assert d_values.tolist() == [[count] * 2 for count in counts]


@pytest.mark.parametrize(
    ("keys", "came"),
    [
        (np.ones(3, dtype="f"), r"float32 of shape \(3,\)"),
        (np.ones((1, 2, 3), dtype="i"), r"int32 of shape \(1, 2, 3\)"),
        ([1, 2], "list"),
    ],
)
def test_other_input_is_refused(keys, came):
    with pytest.raises(ValueError, match=rf"integers, .*given {came}.*with_array"):
        with_distinct(build_embed()).predict(keys)


@pytest.mark.parametrize("n_columns", [0, 65])
def test_too_many_columns_are_refused(n_columns):
    """Also as the sample that it is initialised by."""
    keys = np.ones((2, n_columns), dtype="uint64")
    for call in (Model.predict, Model.initialize):
        with pytest.raises(ValueError, match=rf"1 to 64 columns, .*\(2, {n_columns}\)"):
            call(with_distinct(build_embed()), keys)
