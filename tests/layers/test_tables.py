"""The contract of every layer with an embedding table, and what each adds to it."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from thinc.api import HashEmbed as ThincHashEmbed
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.layers.symbolembed import SymbolEmbed
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from spacy_hashembeds.layers.tableembed import HashEmbed
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedHashEmbed

from .differences import differentiate

SYMBOLS = numpy.array([900, 3, 2**63 + 5, 40], dtype="uint64")
RARE = numpy.array([7, 8, 9, 10, 2**64 - 1], dtype="uint64")
IDS = numpy.array([3, 7, 40, 3, 2**63 + 5, 0, 2**64 - 1], dtype="uint64")


def give(model: Model, symbols: Symbols) -> Model:
    """Give symbols to a layer, or to what a column is cut out for."""
    (embed,) = find_symbol_takers(model)
    give_symbols(embed, symbols)
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


BUILDERS = {
    "hash": build_hash_embed,
    "symbol": build_symbol_embed,
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
    _Y, backprop = model.begin_update(IDS)
    backprop(dY.astype("f"))
    numpy.testing.assert_allclose(model.get_grad("E"), expected, atol=1e-5)
    assert model.get_grad("E").any()


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


def test_a_gradient_of_another_kind_is_added_to(build):
    """Somebody may have set it: kernels can't add to it in place."""
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


ids_strategy = hnp.arrays("uint64", st.integers(1, 30))


@given(
    ids=ids_strategy,
    nV=st.integers(1, 40),
    nO=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_four_hashes_equal_thinc(ids, nV, nO, seed):
    fix_random_seed(0)
    ours = HashEmbed(nO, nV, seed=seed).initialize()
    fix_random_seed(0)
    theirs = ThincHashEmbed(nO, nV, seed=seed).initialize()
    numpy.testing.assert_array_equal(ours.get_param("E"), theirs.get_param("E"))
    Y, backprop = ours.begin_update(ids)
    thinc_Y, thinc_backprop = theirs.begin_update(ids)
    numpy.testing.assert_array_equal(Y, thinc_Y)
    backprop(Y)
    thinc_backprop(thinc_Y)
    numpy.testing.assert_array_equal(ours.get_grad("E"), theirs.get_grad("E"))


@given(ids=ids_strategy, num_hashes=st.integers(1, 3))
def test_fewer_hashes_use_a_prefix(ids, num_hashes):
    model = HashEmbed(3, 7, num_hashes=num_hashes, seed=8).initialize()
    E = model.get_param("E")
    rows = model.ops.hash(ids, 8)[:, :num_hashes] % 7
    numpy.testing.assert_allclose(
        model.predict(ids), E[rows].sum(axis=1), rtol=1e-5, atol=1e-7
    )


@given(symbols=hnp.arrays("uint64", st.integers(0, 8), unique=True), data=st.data())
def test_symbols_have_rows_of_their_own_and_all_others_share_one(symbols, data):
    unk = data.draw(st.integers(0, len(symbols)))
    others = data.draw(hnp.arrays("uint64", 4))
    others = others[~numpy.isin(others, symbols)]
    model = SymbolEmbed(3, key="NORM", unk=unk)
    give_symbols(model, Symbols(symbols))
    model.initialize()
    E = model.get_param("E")
    assert E.shape == (len(symbols) + 1, 3)
    known = model.predict(symbols)
    # each row but the unknown one belongs to one symbol
    rows = [numpy.flatnonzero((y == E).all(axis=1)).tolist() for y in known]
    assert sorted(rows) == [[i] for i in range(len(E)) if i != unk]
    assert (model.predict(others) == E[unk]).all()


DAMAGED = [
    (build_hash_embed, "seed", 2**32, "0 to 4294967295"),
    (build_hash_embed, "num_hashes", 5, "1 to 4"),
    (build_weighted_hash_embed, "num_hashes", 0, "1 to 100"),
    (build_weighted_hash_embed, "combine", "max", "sum or concat"),
    (build_weighted_hash_embed, "same_hash", 1, "False or True"),
    (build_weighted_hash_embed, "append_weights", None, "False or True"),
    (build_symbol_embed, "unk", 5, "0 to 4"),
]


@pytest.mark.parametrize(("build", "name", "value", "expected"), DAMAGED)
def test_damaged_attributes_are_refused(build, name, value, expected):
    model = build().initialize()
    model.predict(IDS)
    model.attrs[name] = value
    loaded = build().from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=rf"'{name}' of .* be {expected}, but"):
        loaded.predict(IDS)


def test_symbols_that_can_not_be_given_are_refused():
    for unk, symbols, error in [
        (5, SYMBOLS, "'unk' is row 5.*rows 0 to 4.*unk = 0"),
        (0, SYMBOLS.astype("int64"), "symbols for NORM should be distinct"),
        (0, SYMBOLS[None], "symbols for NORM should be distinct"),
        (0, SYMBOLS[[0, 1, 1]], "symbols for NORM should be distinct"),
    ]:
        with pytest.raises(ValueError, match=error):
            give_symbols(SymbolEmbed(4, key="NORM", unk=unk), Symbols(symbols))
    for build in (build_symbol_embed, build_weighted_symbols):
        model = build().initialize()
        give_symbols(model, Symbols(SYMBOLS))
        with pytest.raises(ValueError, match=r"initialised with 5 rows.*2 symbols"):
            give_symbols(model, Symbols(SYMBOLS[:2]))


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
    """Thinc loads attributes as they come: the layer looks before it uses them."""
    model = build().initialize()
    model.attrs["symbols"] = symbols
    loaded = build().from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=r"for NORM should be .* 5 rows but one"):
        loaded.predict(IDS)


def build_hashed_weights() -> Model:
    """With as many rows of weights as there are for symbols."""
    return WeightedHashEmbed(4, 6, nK=5, seed=9)


def build_two_hashes() -> Model:
    """With attributes that a layer with weights has as well."""
    return build_hash_embed(num_hashes=2)


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        (build_two_hashes, build_hashed_weights, "weighs what it hashes .* 'seed'"),
        (build_two_hashes, build_weighted_symbols, "weighs what it hashes .* 'seed'"),
        (build_hashed_weights, build_weighted_symbols, "symbols .* 'hashes_weights'"),
        (build_weighted_symbols, build_hashed_weights, "hashes its .* 'symbols'"),
        (build_symbol_embed, lambda: HashEmbed(4, 5, seed=9), "hashes .* 'symbols'"),
    ],
)
def test_weights_of_other_tables_are_refused(source, target, error):
    """Also where all shapes are equal."""
    model = target().from_bytes(source().initialize().to_bytes())
    with pytest.raises(ValueError, match=error):
        model.predict(IDS)
