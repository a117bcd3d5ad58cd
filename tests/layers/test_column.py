"""Mixing of columns: folded, with or without a kernel, and not folded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import LayerNorm, Maxout, Model, chain, concatenate, fix_random_seed
from thinc.layers.array_getitem import ints_getitem

from spacy_hashembeds.layers import mixedembed
from spacy_hashembeds.layers.column import find_column
from spacy_hashembeds.layers.folding import Fold
from spacy_hashembeds.layers.mixer import Mixer
from spacy_hashembeds.layers.plan import (
    MaxoutLayers,
    UnexpectedNodeError,
    expect_column,
)
from spacy_hashembeds.layers.tableembed import HashEmbed
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedHashEmbed

from ..toy_embedders import assert_close, assert_gradients_close, get_gradients
from .plans import get_cached
from .test_tables import BUILDERS


def build_hash() -> Model:
    return HashEmbed(4, 6, num_hashes=3, seed=1).initialize()


def build_weighted(**options) -> Model:
    """More hashes than a kernel supports."""
    return WeightedHashEmbed(3, 7, nK=9, seed=2, num_hashes=5, **options).initialize()


def build_unfolded() -> Model:
    """Weighted, with concatenated rows."""
    return build_weighted(combine="concat")


KINDS = {
    "weighted": [build_weighted],
    "other rows": [
        lambda: BUILDERS["other_hashes"]().initialize(),
        lambda: BUILDERS["other_symbols"]().initialize(),
    ],
    "with ours": [build_hash, build_weighted, build_hash],
    "nothing to fold": [build_unfolded],
    "all": [build_unfolded, build_weighted, build_hash, build_unfolded],
}


def build(kind) -> tuple[Mixer, Model]:
    """Build a mixer, and a chain with the same layers."""
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
@settings(max_examples=15)
def test_mixing_equals_chain(kind, n, seed):
    mixer, reference = build(kind)
    state = np.random.default_rng(seed)
    keys = state.integers(0, 9, (n, len(mixer.columns))).astype("uint64")
    dY = state.normal(size=(n, 5)).astype("f")
    assert mixer.can_embed()
    fold, expected = Fold(), reference.predict(keys)
    for _ in range(2):
        Y, _ = mixedembed.forward(mixer, fold, keys, False)
        assert_close(Y, expected)
    assert len(get_cached(fold).tables) == sum(c.has_rows for c in mixer.columns)
    Y, backprop = mixedembed.forward(mixer, fold, keys, True)
    backprop(dY.copy())
    grads = [grad.copy() for grad in get_gradients(reference)]
    assert_close(Y, expected)
    reference.begin_update(keys)[1](dY.copy())
    # the same layers now have both gradients
    assert_gradients_close([2 * grad for grad in grads], get_gradients(reference))


def test_columns_are_found_by_forward_function():
    model = build_hash()
    assert find_column(model).get_finder() is not None
    assert find_column(build_weighted()).get_finder() is None
    model.name = "other"
    assert find_column(model).has_rows
    model.replace_callbacks(lambda *args: None)
    assert find_column(model) is None


def test_expect_column():
    model = chain(ints_getitem((slice(0, None), 1)), build_hash())
    assert expect_column(model, 1) is model.layers[1]
    others = [(model.layers[1], 1), (chain(build_hash(), build_hash()), 1), (model, 0)]
    for other, column in others:
        with pytest.raises(UnexpectedNodeError):
            expect_column(other, column)
