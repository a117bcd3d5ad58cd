"""`MultiFewerHashEmbed.v1` against `spacy.MultiHashEmbed.v2`, `MultiEmbed.v1`, and
files of symbols. For random damage of files, see `tests/fuzz`.
"""

from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from thinc.api import fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures import mix_attributes
from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.architectures.symbols import (
    SymbolTables,
    load_symbols,
    save_symbols,
)
from spacy_hashembeds.layers import mixedembed
from spacy_hashembeds.layers.plan import UnexpectedNodeError
from spacy_hashembeds.layers.vocabulary import (
    Symbols,
    assign_symbols,
    find_vocabulary_layers,
)
from spacy_hashembeds.papers.hash_embeddings.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.training.counting import count_values, filter_symbols
from spacy_hashembeds.training.key_counter import KeyCounter
from tests.masks import thincs_masks

from ..contract import HASHED
from ..toy_embedders import (
    assert_close,
    get_gradients,
    get_nodes,
    give_counted,
    make_docs,
    make_gradient,
    note_calls,
    update,
)

# MultiFewerHashEmbed


@pytest.mark.parametrize("include_static_vectors", [False, True])
@pytest.mark.parametrize("drop", [0.0, 0.4])
@pytest.mark.parametrize("is_fast", [True, False])
@thincs_masks()
def test_four_hashes_equal_spacy(
    vocab, include_static_vectors, drop, is_fast, monkeypatch
):
    """Seeds are equal, or weights exchanged. The reference path is bitwise equal."""
    if not is_fast:
        no_parts = Mock(side_effect=UnexpectedNodeError("a stranger's"))
        monkeypatch.setattr(mix_attributes, "find_parts", no_parts)
    compare = assert_close if is_fast else np.testing.assert_array_equal
    docs, models, builders = make_docs(vocab), [], (MultiFewerHashEmbed, MultiHashEmbed)
    settings = {**HASHED, "include_static_vectors": include_static_vectors}
    for build in builders:
        fix_random_seed(3)
        models.append(build(**settings).initialize(X=docs))
    results = []
    for model in models:
        set_dropout_rate(model, drop)
        fix_random_seed(5)
        dYs = make_gradient(model.predict(docs))
        results.append([*update(model, docs, dYs), *get_gradients(model)])
    assert len(results[0]) == len(docs) + 7 + include_static_vectors
    for model, build in zip(models, reversed(builders), strict=True):
        other = build(**settings).from_bytes(model.to_bytes())
        results += [other.predict(docs), model.predict(docs)]
    for ours, theirs in zip(results[::2], results[1::2], strict=True):
        for pair in zip(ours, theirs, strict=True):
            compare(*pair)


def test_seed_changes_every_table():
    for options, first in (({}, 8), ({"seed": 8}, 8), ({"seed": 9}, 9)):
        model = MultiFewerHashEmbed(**HASHED, **options)
        seeds = [node.attrs["seed"] for node in get_nodes(model, "hashembed")]
        assert seeds == [*range(first, first + 3)]


# MultiEmbed

SETTINGS = {"width": 8, "attrs": ["NORM", "SHAPE"], "include_static_vectors": False}


@pytest.fixture
def docs(nlp):
    return [nlp.make_doc(text) for text in ["a a b Cc", "", "a zebra"]]


def build(docs, **options):
    model = give_counted(MultiEmbed(**{**SETTINGS, **options}), docs, min_freq=1)
    return model.initialize(X=docs)


@pytest.mark.parametrize("is_fast", [True, False])
def test_unknown_rate_replaces_symbols_by_their_counts(monkeypatch, nlp, is_fast):
    """Rare symbols are replaced more often. Tokens and attributes are independent."""
    doc = Doc(nlp.vocab, words=["rare", "frequent"] * 4000)
    counted = Doc(nlp.vocab, words=["rare", *["frequent"] * 4])
    model = build([counted], attrs=["NORM"], unknown_rate=0.5, dropout=None)
    if not is_fast:
        note_calls(*get_nodes(model, "list2ragged"))  # disables the fast path
    calls, begin_update = [], mixedembed.begin_update
    monkeypatch.setattr(
        mixedembed, "begin_update", lambda *a: calls.append(1) or begin_update(*a)
    )
    known, unknown = model.predict([counted, Doc(nlp.vocab, words=["new"])])
    expected = known[np.arange(8000) % 2]
    Y = model.begin_update([doc])[0][0]
    is_unknown = np.isclose(Y, unknown[0], atol=1e-5).all(axis=1)
    np.testing.assert_allclose(Y[~is_unknown], expected[~is_unknown], atol=1e-5)
    assert is_unknown[::2].mean() == pytest.approx(0.5 / 1.5, abs=0.03)
    assert is_unknown[1::2].mean() == pytest.approx(0.5 / 4.5, abs=0.03)
    assert bool(calls) is is_fast
    # no replacement in prediction
    np.testing.assert_allclose(model.predict([doc])[0], expected, atol=1e-5)


def test_without_unknown_rate_no_random_numbers_or_counts(docs):
    model = build(docs, dropout=None)
    state = np.random.get_state()[1].copy()
    model.begin_update(docs)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert all(e.attrs["counts"] is None for e in find_vocabulary_layers(model))


def test_counts_are_saved_and_invalidated(docs):
    model = build(docs, unknown_rate=0.5)
    loaded = build(docs).from_bytes(model.to_bytes())
    counts = [
        embed.attrs["counts"].tolist() for embed in find_vocabulary_layers(loaded)
    ]
    assert [sorted(of_attr) for of_attr in counts] == [[1, 1, 1, 3], [1, 1, 4]]
    for embed in find_vocabulary_layers(model):
        assign_symbols(embed, Symbols(embed.attrs["symbols"]))
        assert embed.attrs["counts"] is None
        embed.attrs["counts"] = embed.attrs["symbols"][1:]
    with pytest.raises(ValueError, match=r"'counts' .* should be a count for each sym"):
        model.begin_update(docs)


def test_dropout_sites(docs):
    """The trainer overrides rates except null."""

    def get_rates(model):
        nodes = model.walk()
        return [n.attrs["dropout_rate"] for n in nodes if "dropout_rate" in n.attrs]

    assert get_rates(build(docs, dropout=0.3)) == [0.3] * 3
    assert get_rates(set_dropout_rate(build(docs), 0.1)) == [0.1] * 3
    assert get_rates(set_dropout_rate(build(docs, dropout=None), 0.1)) == []


# Files of symbols


def make_array(*values):
    return np.array(values, "uint64")


def test_min_freq_is_inclusive_and_tables_are_saved(nlp, tmp_path):
    docs = map(nlp.make_doc, ["a a a b b c", "", "Dd a"])
    counts = count_values(docs, ["NORM", "SHAPE", "NORM"])
    path, strings = tmp_path / "new" / "tables.npz", nlp.vocab.strings
    save_symbols(path, filter_symbols(counts, min_freq=2, lang="en"))
    tables = load_symbols(path)
    assert (tables.lang, tables.min_freq) == ("en", 2)
    assert [*tables.tables] == ["NORM", "SHAPE"]
    norms, shapes = map(tables.get_table, ["NORM", "SHAPE"])
    assert norms.frequent.tolist() == [strings["a"], strings["b"]]
    assert norms.counts.tolist() == [4, 2]
    assert shapes.frequent.tolist() == [strings["x"]]


def test_symbols_of_equal_count_are_sorted_by_value():
    counter = KeyCounter()
    for n in range(3):  # multiples of 2 and 3 occur again
        counter.add(np.arange(0, 1000, n + 1, dtype="uint64"))
    (table,) = filter_symbols({"NORM": counter}, min_freq=2, lang="en").tables.values()
    twice = [i for i in range(1000) if (i % 2 == 0) != (i % 3 == 0)]
    assert table.frequent.tolist() == [*range(0, 1000, 6), *twice]


@pytest.mark.parametrize(
    "make", [MultiEmbed, partial(MultiWeightedHashEmbed, rows=[11, 7])]
)
def test_symbols_from_a_file(docs, tmp_path, make):
    path = tmp_path / "tables.npz"
    model = make(**SETTINGS, tables=path)
    with pytest.raises(FileNotFoundError, match=r"tables\.npz.*hashembeds tables"):
        model.initialize(X=docs)
    for attrs, lang, message in [
        (["NORM", "SHAPE"], "de", r"'de'.*pipeline's is 'en'.*--lang en"),
        (["NORM"], "en", r"no symbol table for SHAPE, only for NORM.*--attrs SHAPE"),
    ]:
        counts = count_values(docs, attrs)
        save_symbols(path, filter_symbols(counts, min_freq=1, lang=lang))
        with pytest.raises(ValueError, match=message):
            model.initialize(X=docs)
    counts = count_values(docs, ["NORM", "SHAPE"])
    save_symbols(path, filter_symbols(counts, min_freq=1, lang="en"))
    model.initialize(X=docs)
    sizes = [len(e.get_param(e.param_names[-1])) for e in find_vocabulary_layers(model)]
    assert sizes == [5, 4]
    path.unlink()
    loaded = make(**SETTINGS, tables=path).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(loaded.predict(docs)[0], model.predict(docs)[0])


@pytest.mark.parametrize(
    "change",
    [
        {"lang": np.array(["en", "de"])},
        {"symbols/NORM": np.array([print, len], object)},
        {"symbols/NORM": make_array([8], [9])},
        {"symbols/NORM": np.array([8, 9], "int64")},
        {"symbols/NORM": make_array(8, 8)},
        {"symbols/NORM": make_array(8)},
        {"counts/NORM": make_array(5, 0)},
        {"counts/NORM": np.array([5.0, 2.0])},
        {"symbols/SHAPE": make_array(8, 9)},
    ],
)
def test_damaged_files_are_refused(tmp_path, change):
    path = tmp_path / "tables.npz"
    table = Symbols(make_array(8, 9), make_array(5, 2))
    save_symbols(path, SymbolTables({"NORM": table}, lang="en", min_freq=2))
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, **change})
    with pytest.raises(ValueError, match=r"tables\.npz' is not a symbol table"):
        load_symbols(path)
