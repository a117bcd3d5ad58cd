"""Layers with embedding tables."""

from functools import partial

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from thinc.api import HashEmbed as ThincHashEmbed
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.layers.symbolembed import LookupColumn, SymbolEmbed
from spacy_hashembeds.layers.tableembed import HashColumn, HashEmbed
from spacy_hashembeds.layers.vocabulary import (
    Symbols,
    assign_symbols,
    find_vocabulary_layers,
)
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedHashEmbed

from .differences import differentiate

SYMBOLS = numpy.array([900, 3, 2**63 + 5, 40], dtype="uint64")
IDS = numpy.array([3, 7, 40, 3, 2**63 + 5, 0, 2**64 - 1], dtype="uint64")


def give(model: Model, symbols: Symbols) -> Model:
    """Give symbols to a layer, with or without column selection."""
    (embed,) = find_vocabulary_layers(model)
    assign_symbols(embed, symbols)
    return model


def build_hash_embed(**options) -> Model:
    return HashEmbed(4, 6, seed=9, **{"num_hashes": 3, **options})


def build_symbol_embed(**options) -> Model:
    return give(SymbolEmbed(4, key="NORM", **options), Symbols(SYMBOLS))


def build_weighted_hash_embed(**options) -> Model:
    return WeightedHashEmbed(4, 6, nK=9, seed=9, **options)


def build_weighted_symbols(**options) -> Model:
    model = WeightedHashEmbed(4, 6, nK=None, key="NORM", seed=9, **options)
    return give(model, Symbols(SYMBOLS))


class OtherHashes(HashColumn):
    """A kind of table that overrides only `locate`."""

    def locate(self, ops, keys):
        return super().locate(ops, keys) // 2


class OtherSymbols(LookupColumn):
    def locate(self, ops, keys):
        return super().locate(ops, keys) // 2


def build_other(build, kind, **options) -> Model:
    model = build(**options)
    for node in model.walk():
        if "column_kind" in node.attrs:
            node.attrs["column_kind"] = kind
    return model


BUILDERS = {
    "hash": build_hash_embed,
    "other_hashes": partial(build_other, build_hash_embed, OtherHashes),
    "other_symbols": partial(build_other, build_symbol_embed, OtherSymbols),
    "symbol_unk_2": lambda **options: build_symbol_embed(unk=2, **options),
    "weighted": build_weighted_hash_embed,
    "weighted_symbols": build_weighted_symbols,
}


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def build(request):
    return request.param


def test_gradient_equals_finite_differences(build):
    model = build().initialize()
    dY = numpy.random.RandomState(0).normal(size=(len(IDS), 4))

    def get_loss():
        return float((model.predict(IDS) * dY).sum())

    expected = differentiate(get_loss, model.get_param("E"), step=0.5)
    model.begin_update(IDS)[1](dY.astype("f"))
    numpy.testing.assert_allclose(model.get_grad("E"), expected, atol=1e-5)
    assert expected.any()


def test_dropout_drops_whole_dimensions_and_only_in_training(build):
    model = build(dropout=0.5).initialize()
    clean = model.predict(IDS)
    fix_random_seed(1)
    Y, backprop = model.begin_update(IDS)
    kept = Y.any(axis=0)
    assert 0 < kept.sum() < 4
    numpy.testing.assert_allclose(Y[:, kept], clean[:, kept] * 2, rtol=1e-6)
    dY = numpy.random.default_rng(0).normal(size=Y.shape).astype("f")
    backprop(dY)
    dE = model.get_grad("E").copy()
    assert not dE[:, ~kept].any()
    model.set_grad("E", numpy.zeros_like(dE))
    model(IDS, is_train=False)[1](dY)
    numpy.testing.assert_allclose(dE[:, kept], 2 * model.get_grad("E")[:, kept])


def test_existing_gradient_of_another_layout(build):
    """Kernels can't add to a gradient of another layout or dtype in place."""
    model = build().initialize()
    Y, backprop = model.begin_update(IDS)
    backprop(Y)
    once = model.get_grad("E").copy()
    for other in (numpy.asfortranarray(once), once.astype("float64")):
        model.set_grad("E", other)
        backprop(Y)
        numpy.testing.assert_allclose(model.get_grad("E"), 2 * once, rtol=1e-6)


def test_column_of_a_matrix(build):
    plain = build().initialize()
    model = build(column=1).initialize()
    node = model.layers[1]
    for name in node.param_names:
        node.set_param(name, plain.get_param(name))
    matrix = numpy.stack([IDS[::-1], IDS], axis=1)
    Y, backprop = model.begin_update(matrix)
    numpy.testing.assert_array_equal(Y, plain.predict(IDS))
    assert backprop(Y).shape == matrix.shape
    Y, backprop = model.begin_update(matrix[:0])
    assert Y.shape == (0, 4)
    assert len(backprop(Y)) == 0


def test_rows_of_another_width(monkeypatch):
    monkeypatch.setattr(OtherHashes, "row_width", 2)
    assert BUILDERS["other_hashes"]().initialize().get_param("E").shape == (6, 2)


ids_strategy = hnp.arrays("uint64", st.integers(1, 30))


@given(
    ids=ids_strategy,
    nV=st.integers(1, 40),
    nO=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_four_hashes_equal_thinc(ids, nV, nO, seed):
    results = []
    for embed in (HashEmbed, ThincHashEmbed):
        fix_random_seed(0)
        model = embed(nO, nV, seed=seed).initialize()
        Y, backprop = model.begin_update(ids)
        backprop(Y)
        results.append([model.get_param("E"), Y, model.get_grad("E")])
    for ours, theirs in zip(*results, strict=True):
        numpy.testing.assert_array_equal(ours, theirs)


@given(ids=ids_strategy, num_hashes=st.integers(1, 3))
def test_fewer_hashes_use_a_prefix(ids, num_hashes):
    model = HashEmbed(3, 7, num_hashes=num_hashes, seed=8).initialize()
    rows = model.ops.hash(ids, 8)[:, :num_hashes] % 7
    expected = model.get_param("E")[rows].sum(axis=1)
    numpy.testing.assert_allclose(model.predict(ids), expected, rtol=1e-5, atol=1e-7)


@given(symbols=hnp.arrays("uint64", st.integers(0, 8), unique=True), data=st.data())
def test_rows_of_symbols(symbols, data):
    unk = data.draw(st.integers(0, len(symbols)))
    others = data.draw(hnp.arrays("uint64", 4))
    others = others[~numpy.isin(others, symbols)]
    model = SymbolEmbed(3, key="NORM", unk=unk)
    assign_symbols(model, Symbols(symbols))
    model.initialize()
    E = model.get_param("E")
    assert E.shape == (len(symbols) + 1, 3)
    known = model.predict(symbols)
    # each row but the unknown one belongs to one symbol
    rows = [numpy.flatnonzero((y == E).all(axis=1)).tolist() for y in known]
    assert sorted(rows) == [[i] for i in range(len(E)) if i != unk]
    assert (model.predict(others) == E[unk]).all()


@pytest.mark.parametrize(
    "symbols",
    [
        numpy.sort(SYMBOLS)[::-1],
        numpy.sort(SYMBOLS).astype("int64"),
        numpy.arange(7, dtype="uint64"),
        "symbols",
    ],
)
@pytest.mark.parametrize("build", [build_symbol_embed, build_weighted_symbols])
def test_damaged_symbols_are_refused(build, symbols):
    """Thinc loads attributes without checks."""
    model = build().initialize()
    model.attrs["symbols"] = symbols
    loaded = build().from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=r"NORM should be .* the 5 rows"):
        loaded.predict(IDS)


def test_invalid_symbols_raise():
    with pytest.raises(ValueError, match=r"'unk' is row 5.*rows 0 to 4"):
        build_symbol_embed(unk=5)
    for build in (build_symbol_embed, build_weighted_symbols):
        model = build().initialize()
        assign_symbols(model, Symbols(SYMBOLS))
        with pytest.raises(ValueError, match=r"initialized with 5 rows.*2 symbols"):
            assign_symbols(model, Symbols(SYMBOLS[:2]))


#: As many rows of weights as for symbols.
HASHED_WEIGHTS = partial(WeightedHashEmbed, 4, 6, nK=5, seed=9)
#: The same attributes as a layer with weights.
TWO_HASHES = partial(build_hash_embed, num_hashes=2)


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        (TWO_HASHES, HASHED_WEIGHTS, "seed"),
        (TWO_HASHES, build_weighted_symbols, "seed"),
        (HASHED_WEIGHTS, build_weighted_symbols, "hashes_weights"),
        (build_weighted_symbols, HASHED_WEIGHTS, "symbols"),
        (build_symbol_embed, partial(HashEmbed, 4, 5, seed=9), "symbols"),
    ],
)
def test_weights_of_other_tables_raise(source, target, name):
    """The error is raised even if all shapes are equal."""
    model = target().from_bytes(source().initialize().to_bytes())
    with pytest.raises(ValueError, match=f"'{name}'"):
        model.predict(IDS)
