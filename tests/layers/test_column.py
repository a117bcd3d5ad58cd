"""Columns of strangers' layers, mixed with ours: with rows, weighted, and without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import (
    Embed,
    LayerNorm,
    Maxout,
    Model,
    chain,
    concatenate,
    fix_random_seed,
)
from thinc.layers.array_getitem import ints_getitem

from spacy_hashembeds.layers import mixedembed
from spacy_hashembeds.layers.column import Column, find_column
from spacy_hashembeds.layers.mixedembed import Fold, Mixer
from spacy_hashembeds.layers.plan import (
    MaxoutLayers,
    UnexpectedNodeError,
    expect_column,
)
from spacy_hashembeds.layers.tableembed import HashEmbed

from ..toy_embedders import assert_close, assert_gradients_close, get_gradients
from .plans import get_kept

WEIGHTS = np.linspace(-1, 2, 7).astype("f")


def find_weighted_rows(model, values):
    rows = np.stack([values % 5, values % 3], axis=1).astype("uint32")
    return rows, np.stack([WEIGHTS[values % 7], WEIGHTS[values % 2]], axis=1)


def forward_weighted(model, values, is_train):
    """Sum two rows of each value, weighted: an importance-weighted embedding."""
    E = model.get_param("E")
    rows, weights = find_weighted_rows(model, values)

    def backprop(dY):
        dE = np.zeros_like(E)
        np.add.at(dE, rows, weights[..., None] * dY[:, None])
        model.inc_grad("E", dE)
        return np.zeros_like(values)

    return (E[rows] * weights[..., None]).sum(axis=1), backprop


class WeightedColumn(Column):
    forward = staticmethod(forward_weighted)
    has_rows = has_weights = True

    def find_rows(self, keys):
        return find_weighted_rows(self.model, keys)


def forward_beside(model, values, is_train):
    """Embed by something that has no rows."""
    Y, backprop = model.layers[0](values, is_train)
    return Y, backprop


class BesideColumn(Column):
    forward = staticmethod(forward_beside)


def build_weighted() -> Model:
    E = np.random.default_rng(0).normal(size=(5, 3)).astype("f")
    attrs = {"column_kind": WeightedColumn}
    params, dims = {"E": E}, {"nO": 3}
    return Model("weighted", forward_weighted, params=params, dims=dims, attrs=attrs)


def build_beside() -> Model:
    layer = Embed(2, 9).initialize()
    attrs = {"column_kind": BesideColumn}
    return Model("beside", forward_beside, layers=[layer], dims={"nO": 2}, attrs=attrs)


def build_hash(num_hashes=3) -> Model:
    return HashEmbed(4, 6, num_hashes=num_hashes, seed=1).initialize()


KINDS = {
    "weighted": [build_weighted],
    "with ours": [build_hash, build_weighted, lambda: build_hash(1)],
    "nothing to fold": [build_beside],
    "all": [build_beside, build_weighted, build_hash, build_beside],
}


def build(kind) -> tuple[Mixer, Model]:
    """A mixer, and the same layers in a chain of Thinc's."""
    fix_random_seed(0)
    layers = [make() for make in KINDS[kind]]
    width = sum(layer.get_dim("nO") for layer in layers)
    maxout, layernorm = Maxout(5, width, nP=2).initialize(), LayerNorm(5).initialize()
    columns = [
        chain(ints_getitem((slice(0, None), i)), layer)
        for i, layer in enumerate(layers)
    ]
    mixing = MaxoutLayers(maxout, layernorm, None)
    mixer = Mixer([find_column(layer) for layer in layers], mixing)
    return mixer, chain(concatenate(*columns), maxout, layernorm)


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.sampled_from([1, 5, 256, 257, 400]), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_all_kinds_mix_as_in_a_chain(kind, n, seed):
    mixer, reference = build(kind)
    state = np.random.default_rng(seed)
    keys = state.integers(0, 9, (n, len(mixer.columns))).astype("uint64")
    dY = state.normal(size=(n, 5)).astype("f")
    assert mixer.can_embed()
    fold = Fold()
    expected = reference.predict(keys)
    for _ in range(2):
        Y, _ = mixedembed.forward(mixer, fold, keys, False)
        assert_close(Y, expected)
    assert (get_kept(fold) is not None) == (kind != "nothing to fold")
    for _ in range(2):
        expected, backprop = reference.begin_update(keys)
        backprop(dY.copy())
    expected_grads = [grad.copy() for grad in get_gradients(reference)]
    clear_gradients(reference)
    for _ in range(2):
        Y, backprop = mixedembed.forward(mixer, fold, keys, True)
        backprop(dY.copy())
    assert_close(Y, expected)
    assert_gradients_close(get_gradients(reference), expected_grads)


def clear_gradients(model) -> None:
    for node in model.walk():
        for name in node.grad_names:
            node.get_grad(name)[...] = 0


def test_folded_rows_of_others_are_never_stale():
    mixer, reference = build("all")
    keys = np.arange(20, dtype="uint64").reshape(5, 4) % 9
    fold = Fold()
    for column in mixer.columns:
        mixedembed.forward(mixer, fold, keys, False)
        assert get_kept(fold) is not None
        for node in column.model.walk():
            for name in node.param_names:
                node.get_param(name)[...] *= -2
        Y, _ = mixedembed.forward(mixer, fold, keys, False)
        assert_close(Y, reference.predict(keys))


def test_a_layer_offers_by_its_function_alone():
    model = build_hash()
    assert find_column(model).get_finder() is not None
    assert find_column(build_weighted()).get_finder() is None
    model.name = "other"
    assert find_column(model).has_rows
    model.replace_callbacks(lambda *args: None)
    assert find_column(model) is None


def test_a_column_is_found_where_it_is_cut_out():
    model = chain(ints_getitem((slice(0, None), 1)), build_hash())
    assert expect_column(model, 1) is model.layers[1]
    others = [(model.layers[1], 1), (chain(build_hash(), build_hash()), 1), (model, 0)]
    for other, column in others:
        with pytest.raises(UnexpectedNodeError):
            expect_column(other, column)
