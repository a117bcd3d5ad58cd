"""Layers with one table: on a GPU as on the CPU."""

import numpy
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from thinc.api import Model, fix_random_seed, set_dropout_rate

from spacy_hashembeds.layers.hashembed import HashEmbed
from spacy_hashembeds.layers.hybridembed import HybridEmbed
from spacy_hashembeds.layers.mixing.column import find_column
from spacy_hashembeds.layers.mixing.gputables import GpuCopy, embed_tables
from spacy_hashembeds.layers.symbolembed import SymbolEmbed
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from spacy_hashembeds.layers.weightedhashembed import WeightedHashEmbed

SYMBOLS = numpy.array([900, 3, 2**63 + 5, 40], dtype="uint64")


def build_symbol_embed(symbols=SYMBOLS, width=6, **options) -> Model:
    model = SymbolEmbed(width, key="NORM", dropout=0.0, **options)
    (embed,) = find_symbol_takers(model)
    give_symbols(embed, Symbols(symbols))
    return model.initialize()


def build_weighted(nK=11, width=6, num_hashes=2, **options) -> Model:
    options = {"num_hashes": num_hashes, "seed": 9, "dropout": 0.0, **options}
    model = WeightedHashEmbed(width, 7, nK=nK, key="NORM", **options)
    for layer in find_symbol_takers(model):
        give_symbols(layer, Symbols(SYMBOLS))
    model.initialize()
    P = model.get_param("P")
    P[...] = numpy.random.default_rng(0).normal(size=P.shape)
    return model


def build_hybrid(symbols=SYMBOLS, width=6, num_hashes=2, **options) -> Model:
    model = HybridEmbed(
        width, 20, key="NORM", num_hashes=num_hashes, seed=9, dropout=0.0, **options
    )
    (embed,) = find_symbol_takers(model)
    give_symbols(embed, Symbols(symbols, numpy.arange(50, 90, dtype="uint64")))
    return model.initialize()


BUILDERS = {
    "one hash": lambda: HashEmbed(5, 7, num_hashes=1, seed=8, dropout=0.0),
    "four hashes": lambda: HashEmbed(8, 30, seed=2**32 - 1, dropout=0.0),
    "no dropout": lambda: HashEmbed(8, 30, num_hashes=3, seed=0),
    "one row": lambda: HashEmbed(96, 1, num_hashes=2, seed=1),
    "a column": lambda: HashEmbed(4, 9, num_hashes=2, seed=1, column=0),
    "symbols": build_symbol_embed,
    "symbols, unk 2": lambda: build_symbol_embed(unk=2),
    "weighted": build_weighted,
    "weighted, four": lambda: build_weighted(width=8, num_hashes=4),
    "weighted, five": lambda: build_weighted(num_hashes=5),
    "weighted, symbols": lambda: build_weighted(nK=None),
    "weighted, same hash": lambda: build_weighted(same_hash=True),
    "weighted, side by side": lambda: build_weighted(
        combine="concat", append_weights=True
    ),
    "hybrid": build_hybrid,
    "hybrid, one hash": lambda: build_hybrid(num_hashes=1),
    "hybrid, four hashes": lambda: build_hybrid(width=8, num_hashes=4),
    "hybrid, no symbols": lambda: build_hybrid(SYMBOLS[:0], num_hashes=3),
    "hybrid, a column": lambda: build_hybrid(column=0),
    "no symbols": lambda: build_symbol_embed(SYMBOLS[:0]),
}


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def model(request) -> Model:
    fix_random_seed(0)
    return request.param().initialize()


def find_table(model: Model) -> Model:
    return next(node for node in model.walk() if "E" in node.param_names)


def make_ids(model, values, dtype="uint64") -> numpy.ndarray:
    ids = numpy.array(values, dtype=dtype)
    is_column = find_table(model) is not model
    return numpy.stack([ids, ids + 1], axis=1) if is_column else ids


def update(model, ids, dY):
    Y, backprop = model.begin_update(ids)
    dX = backprop(dY)
    assert len(dX) == len(ids)
    return Y, get_grads(model)


def get_grads(model) -> numpy.ndarray:
    """Give the gradients of all tables of a layer, one after the other."""
    node = find_table(model)
    grads = [node.ops.to_numpy(node.get_grad(name)) for name in node.param_names]
    return numpy.concatenate([grad.reshape(-1) for grad in grads])


IDS = st.lists(
    st.one_of(st.sampled_from([3, 40, 900]), st.integers(0, 2**62)), max_size=40
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@example(values=[], dtype="uint64", drop=0.0, seed=0)
@example(values=[0, 2**62], dtype="int64", drop=0.0, seed=0)
@given(
    values=IDS,
    dtype=st.sampled_from(["uint64", "int64"]),
    drop=st.sampled_from([0.0, 0.5]),
    seed=st.integers(0, 99),
)
@pytest.mark.usefixtures("same_dropout")
def test_values_and_gradients_equal_those_of_the_cpu(
    gpu, model, values, dtype, drop, seed
):
    model = set_dropout_rate(model.copy(), drop)
    on_gpu = gpu.copy(model)
    ids = make_ids(model, values, dtype)
    expected = model.predict(ids)
    Y = on_gpu.predict(gpu.array(ids))
    numpy.testing.assert_allclose(gpu.get(Y), expected, atol=1e-5)
    dY = numpy.random.default_rng(seed).normal(size=expected.shape).astype("f")
    for _ in range(2):  # onto gradients that are there already
        fix_random_seed(seed)
        expected, expected_grad = update(model, ids, dY)
        fix_random_seed(seed)
        d_given = gpu.array(dY)
        Y, grad = update(on_gpu, gpu.array(ids), d_given)
        numpy.testing.assert_allclose(gpu.get(Y), expected, atol=1e-5)
        numpy.testing.assert_allclose(grad, expected_grad, atol=1e-5)
        numpy.testing.assert_array_equal(gpu.get(d_given), dY)


def test_backpropagation_twice(gpu, model):
    ids = make_ids(model, [3, 3, 7, 900])
    on_gpu = gpu.copy(model)
    Y, backprop = on_gpu.begin_update(gpu.array(ids))
    dY = gpu.array(numpy.ones(Y.shape, dtype="f"))
    backprop(dY)
    once = gpu.get(find_table(on_gpu).get_grad("E")).copy()
    backprop(dY)
    twice = gpu.get(find_table(on_gpu).get_grad("E"))
    numpy.testing.assert_allclose(twice, 2 * once, rtol=1e-6)
    assert once.any()


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
    ids = make_ids(model, [3, 3, 7, 900])
    expected = model.predict(ids)
    on_gpu = gpu.copy(model)
    on_gpu.predict(gpu.array(ids))
    saved = on_gpu.to_bytes()
    assert len(saved) == len(model.to_bytes()), "copies of symbols are not saved"
    table = find_table(model)
    table.set_param("E", table.get_param("E") * 0)
    numpy.testing.assert_array_equal(
        model.copy().from_bytes(saved).predict(ids), expected
    )


def test_other_symbols_are_seen(gpu):
    """The copy of the symbols on the GPU follows them."""
    model = gpu.copy(build_symbol_embed())
    ids = numpy.array([3, 8, 900], dtype="uint64")
    before = gpu.get(model.predict(gpu.array(ids)))
    give_symbols(model, Symbols(numpy.array([8, 9, 10, 11], dtype="uint64")))
    expected = gpu.copy_back(model).predict(ids)
    Y = gpu.get(model.predict(gpu.array(ids)))
    numpy.testing.assert_allclose(Y, expected, atol=1e-6)
    assert not numpy.allclose(before, expected)


def test_gradients_of_other_kinds(gpu, model):
    """Float64 comes from mixed precision; strides come from whoever sets gradients."""
    ids = make_ids(model, [3, 3, 7, 900])
    expected, actual = model.copy(), gpu.copy(model)
    dY = numpy.random.default_rng(0).normal(size=model.predict(ids).shape)
    update(expected, ids, dY.astype("f"))
    update(expected, ids, dY.astype("f"))
    table = find_table(actual)
    update(actual, gpu.array(ids), gpu.array(dY))
    once = gpu.get(table.get_grad("E"))
    table.set_grad("E", gpu.array(numpy.asfortranarray(once)))
    update(actual, gpu.array(ids), gpu.array(dY))
    numpy.testing.assert_allclose(get_grads(actual), get_grads(expected), atol=1e-5)


def test_the_copy_of_symbols_follows_the_device(gpu):
    copied, source = GpuCopy(), numpy.arange(3)
    ops = [type(gpu.ops)(), type(gpu.ops)()]
    first = copied.get(ops[0], source)
    assert copied.get(ops[0], source) is first
    copied.get(ops[1], source)
    assert copied.latest[1] is ops[1]


def test_a_table_of_another_shape_is_refused(gpu, model):
    on_gpu = gpu.copy(model)
    node = find_table(on_gpu)
    node.set_param("E", node.get_param("E")[:, 1:])
    with pytest.raises(
        ValueError, match=r"The parameter 'E' of layer .* should be float32"
    ):
        on_gpu.predict(gpu.array(make_ids(model, [3])))
