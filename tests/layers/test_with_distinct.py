"""`with_distinct` around layers of Thinc."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Embed, HashEmbed, Maxout, Model, chain, fix_random_seed

from spacy_hashembeds.layers.with_distinct import with_distinct

from ..toy_embedders import get_gradients

BUILDERS = {
    "deep": lambda: chain(HashEmbed(4, 9, seed=3), Maxout(6, nP=2, normalize=True)),
    "embed": lambda: Embed(6, 5),
    "column": lambda: HashEmbed(6, 7, seed=3, column=1),
}


@pytest.mark.parametrize("kind", BUILDERS)
@given(n=st.integers(1, 40), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_equals_layer(kind, n, seed):
    state = np.random.default_rng(seed)
    keys = state.integers(0, 5, (n, 3) if kind == "column" else n).astype("uint64")
    dY, results = state.normal(size=(n, 6)).astype("f"), []
    for wrap in (lambda layer: layer, with_distinct):
        fix_random_seed(0)
        model = wrap(BUILDERS[kind]()).initialize(X=keys)
        for _ in range(2):  # gradients add up
            Y, backprop = model.begin_update(keys)
            dX = backprop(dY.copy())
        np.testing.assert_allclose(model.predict(keys), Y)
        results.append([Y, *get_gradients(model)])
    assert dX.shape == keys.shape
    assert not dX.any()
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("keys", "expected", "counts"),
    [
        (np.array([3, 0, 3, 3], dtype="uint64"), [3, 0], [3, 1]),
        (np.array([[-1, 2], [2, -1], [-1, 2]], "int32"), [[-1, 2], [2, -1]], [2, 1]),
    ],
)
def test_layer_gets_each_key_once(keys, expected, counts):
    given_to_layer = []

    def forward(model, keys, is_train):
        given_to_layer.append(keys)
        return np.ones((len(keys), 2), dtype="f"), given_to_layer.append

    model = with_distinct(Model("noting", forward, dims={"nO": 2}))
    Y, backprop = model.begin_update(keys)
    assert backprop(Y).shape == keys.shape
    values, d_values = given_to_layer
    assert (values.tolist(), values.dtype) == (expected, keys.dtype)
    assert d_values.tolist() == [[count] * 2 for count in counts]
