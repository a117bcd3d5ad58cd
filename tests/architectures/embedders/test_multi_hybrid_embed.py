"""`MultiHybridEmbed.v1`: a row for each frequent symbol, hashed rows for all others."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.architectures.embedders.multi_hybrid_embed import MultiHybridEmbed
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from spacy_hashembeds.symbols import (
    SymbolTables,
    count_values,
    cut_symbols,
    load_symbols,
    save_symbols,
)

ATTRS = ["NORM", "SHAPE"]
TEXTS = ["a a b Cc X1 d", "", "a b zebra dd X1 - . !", "the a 12 eee Fg b"]


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture
def docs(nlp):
    return [nlp.make_doc(text) for text in TEXTS]


def count(docs, *, min_freq=2) -> SymbolTables:
    return cut_symbols(count_values(docs, ATTRS), min_freq=min_freq, lang="en")


def give(model, tables) -> None:
    for layer in find_symbol_takers(model):
        table = tables.get_table(layer.attrs["key"])
        give_symbols(layer, Symbols(table.frequent, table.rare))


def make(**options):
    options = {"attrs": ATTRS, "include_static_vectors": False, **options}
    return MultiHybridEmbed(**{"width": 8, "rows": [20, 10], **options})


def build(docs, **options):
    model = make(**options)
    give(model, count(docs))
    return model.initialize(X=docs)


def get_tables(model) -> list:
    return [node for node in model.walk() if "E" in node.param_names]


def copy_mixer(source, target) -> None:
    for name in ("maxout", "layernorm"):
        nodes = [
            next(node for node in model.walk() if node.name == name)
            for model in (source, target)
        ]
        for param in nodes[0].param_names:
            nodes[1].set_param(param, nodes[0].get_param(param).copy())


def assert_equal_models(ours, other, docs, rows) -> None:
    """Compare outputs and gradients; `rows` orders our rows as the other's are."""
    fix_random_seed(0)
    Y, backprop = ours.begin_update(docs)
    expected, backprop_other = other.begin_update(docs)
    np.testing.assert_allclose(np.vstack(Y), np.vstack(expected), atol=1e-5)
    dY = [np.random.default_rng(0).normal(size=y.shape).astype("f") for y in Y]
    backprop(dY)
    backprop_other(dY)
    for mine, theirs, order in zip(
        get_tables(ours), get_tables(other), rows, strict=True
    ):
        dE = mine.get_grad("E")[order]
        np.testing.assert_allclose(dE, theirs.get_grad("E"), atol=1e-4)


def test_with_one_row_for_the_rest_it_is_multi_embed(docs):
    """The same symbols; its row for unknown ones comes first and ours last."""
    tables = count(docs)
    sizes = [len(tables.get_table(attr).frequent) for attr in ATTRS]
    ours = build(docs, rows=[n + 1 for n in sizes], num_hashes=1)
    lookup = MultiEmbed(attrs=ATTRS, width=8, include_static_vectors=False)
    give(lookup, tables)
    lookup.initialize(X=docs)
    copy_mixer(ours, lookup)
    orders = [np.roll(np.arange(n + 1), 1) for n in sizes]
    for mine, other, order in zip(
        get_tables(ours), get_tables(lookup), orders, strict=True
    ):
        other.set_param("E", mine.get_param("E")[order])
    assert_equal_models(ours, lookup, docs, orders)


@pytest.mark.parametrize("num_hashes", [1, 2, 4])
def test_without_frequent_symbols_it_is_multi_fewer_hash_embed(nlp, num_hashes):
    words = Doc(nlp.vocab, words=[f"{'x' * (i % 9)}{i}" for i in range(300)])
    options = {"num_hashes": num_hashes, "seed": 9, "rows": [7, 3], "attrs": ATTRS}
    options = {**options, "width": 8, "include_static_vectors": False}
    ours, other = MultiHybridEmbed(**options), MultiFewerHashEmbed(**options)
    give(ours, count([words], min_freq=1000))
    for model in (ours, other):
        model.initialize(X=[words])
    assert [node.get_dim("nV") for node in get_tables(ours)] == [7, 3]
    copy_mixer(ours, other)
    for mine, theirs in zip(get_tables(ours), get_tables(other), strict=True):
        theirs.set_param("E", mine.get_param("E").copy())
    assert_equal_models(ours, other, [words], [np.arange(7), np.arange(3)])


def test_rare_and_unknown_words_differ_and_frequent_ones_share_nothing(nlp, docs):
    model = build(docs, attrs=["NORM"], rows=[20])
    (table,) = get_tables(model)
    frequent, others = ["a", "b", "x1"], [f"unseen{i}" for i in range(20)]
    words = [Doc(nlp.vocab, words=[word]) for word in (*frequent, *others, "zebra")]
    Ys = [y.tobytes() for y in model.predict(words)]
    assert all(Ys.count(y) == 1 for y in Ys[:3])
    assert len(set(Ys)) > 9
    for word in frequent:
        backprop = model.begin_update([Doc(nlp.vocab, words=[word])])[1]
        backprop([np.random.default_rng(0).normal(size=(1, 8)).astype("f")])
    touched = table.get_grad("E").any(axis=1)
    assert touched.tolist() == [True] * 3 + [False] * (len(touched) - 3)


def test_each_row_is_trained(docs):
    model = build(docs, rows=[5000, 5000])
    Y, backprop = model.begin_update(docs)
    backprop([np.random.default_rng(0).normal(size=y.shape).astype("f") for y in Y])
    for table in get_tables(model):
        assert table.get_grad("E").any(axis=1).all()
        assert len(table.attrs["symbols"]) + 1 < table.get_dim("nV") < 30


def test_symbols_from_a_file(docs, tmp_path):
    path = tmp_path / "tables.npz"
    save_symbols(path, count(docs))
    model = make(tables=path).initialize(X=docs)
    expected = [node.get_dim("nV") for node in get_tables(build(docs))]
    assert [node.get_dim("nV") for node in get_tables(model)] == expected
    path.unlink()
    loaded = make(tables=path).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(loaded.predict(docs)[0], model.predict(docs)[0])


def test_a_file_without_rare_symbols_is_for_lookup_alone(docs, tmp_path):
    path = tmp_path / "tables.npz"
    save_symbols(path, count(docs))
    with np.load(path) as arrays:
        kept = {k: v for k, v in arrays.items() if not k.startswith("rare/")}
    np.savez(path, **kept)
    assert load_symbols(path).get_table("NORM").rare is None
    options = {"attrs": ATTRS, "width": 8, "include_static_vectors": False}
    MultiEmbed(**options, tables=path).initialize(X=docs)
    with pytest.raises(ValueError, match=r"needs the rare symbols .*anew with `spacy"):
        make(tables=path).initialize(X=docs)


def test_too_few_rows_are_refused_when_initialised(docs):
    with pytest.raises(ValueError, match=r"'rows' gives the table for NORM 3.*to 4 or"):
        build(docs, rows=[3, 10])


def test_symbols_are_needed():
    with pytest.raises(ValueError, match=r"no symbols for NORM.*count_symbols\.v1"):
        make().initialize()
