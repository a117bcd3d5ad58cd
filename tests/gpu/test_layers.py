"""Layers with one table: what only a GPU has of them."""

import numpy
import pytest
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.layers.column import find_column
from spacy_hashembeds.layers.gpuembed import embed_tables
from spacy_hashembeds.layers.symboltaker import Symbols, give_symbols
from spacy_hashembeds.layers.tableembed import HashEmbed

from ..layers.test_tables import (
    BUILDERS,
    IDS,
    build_symbol_embed,
    build_weighted_hash_embed,
)


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def model(request) -> Model:
    fix_random_seed(0)
    return request.param().initialize()


@pytest.mark.usefixtures("same_dropout")
def test_tables_of_other_rates_drop_on_their_own(gpu):
    """Each column is dropped by the rate of its own table."""
    layers = [HashEmbed(64, 9, seed=1, dropout=rate) for rate in (0.0, 0.2, 0.9)]
    tables = [layer.initialize() for layer in layers]
    on_gpu = [gpu.copy(layer) for layer in tables]
    keys = numpy.arange(60, dtype="uint64").reshape(20, 3)
    fix_random_seed(0)
    columns = [find_column(layer) for layer in on_gpu]
    X, backprop = embed_tables(columns, gpu.array(keys), True)
    backprop(X)
    X = gpu.get(X)
    for i, (layer, copied) in enumerate(zip(tables, on_gpu, strict=True)):
        columns = X[:, 64 * i : 64 * (i + 1)]
        clean = layer.predict(keys[:, i])
        is_kept = columns.any(axis=0)
        rate = layer.attrs["dropout_rate"]
        assert abs(is_kept.mean() - (1 - rate)) < 0.15
        expected = clean[:, is_kept] / (1 - rate)
        numpy.testing.assert_allclose(columns[:, is_kept], expected, rtol=1e-4)
        grad = gpu.get(copied.get_grad("E"))
        numpy.testing.assert_array_equal(grad.any(axis=0), is_kept)


def test_weights_travel_between_cpu_and_gpu(gpu, model):
    expected = model.predict(IDS)
    on_gpu = gpu.copy(model)
    on_gpu.predict(gpu.array(IDS))
    saved = on_gpu.to_bytes()
    assert len(saved) == len(model.to_bytes()), "copies of symbols are not saved"
    model.set_param("E", model.get_param("E") * 0)
    loaded = model.copy().from_bytes(saved)
    numpy.testing.assert_array_equal(loaded.predict(IDS), expected)


def test_other_symbols_are_seen(gpu):
    """The copy of the symbols on the GPU follows them."""
    model = gpu.copy(build_symbol_embed().initialize())
    ids = numpy.array([3, 8, 900], dtype="uint64")
    before = gpu.get(model.predict(gpu.array(ids)))
    give_symbols(model, Symbols(numpy.array([8, 9, 10, 11], dtype="uint64")))
    expected = gpu.copy_back(model).predict(ids)
    Y = gpu.get(model.predict(gpu.array(ids)))
    numpy.testing.assert_allclose(Y, expected, atol=1e-6)
    assert not numpy.allclose(before, expected)


def test_gradients_of_other_kinds(gpu, model):
    """Float64 comes from mixed precision; strides come from whoever sets gradients."""
    on_gpu = gpu.copy(model)
    Y, backprop = on_gpu.begin_update(gpu.array(IDS))
    backprop(Y)
    once = gpu.get(on_gpu.get_grad("E"))
    on_gpu.set_grad("E", gpu.array(numpy.asfortranarray(once)))
    backprop(Y.astype("float64"))
    numpy.testing.assert_allclose(gpu.get(on_gpu.get_grad("E")), 2 * once, atol=1e-5)


@pytest.mark.parametrize("is_train", [False, True])
def test_keys_are_left_as_they_were(gpu, is_train):
    """Though others, of their rows of weights, choose the components."""
    model = gpu.copy(build_weighted_hash_embed(same_hash=True).initialize())
    keys = gpu.array(IDS.copy())
    model(keys, is_train)
    numpy.testing.assert_array_equal(gpu.get(keys), IDS)
