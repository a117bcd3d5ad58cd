"""`MultiEmbed.v1`: a row for each known symbol, one for all others."""

from contextlib import nullcontext

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import set_dropout_rate

from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.symbols import save_symbols
from spacy_hashembeds.layers import mixedembed
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from spacy_hashembeds.training.counting import count_values, cut_symbols

from ..toy_embedders import get_nodes, give_counted, note_calls

SETTINGS = {"width": 8, "attrs": ["NORM", "SHAPE"], "include_static_vectors": False}


@pytest.fixture
def docs(nlp):
    return [nlp.make_doc(text) for text in ["a a b Cc", "", "a zebra"]]


def build(docs, **options):
    model = give_counted(MultiEmbed(**{**SETTINGS, **options}), docs, min_freq=1)
    return model.initialize(X=docs)


@pytest.mark.parametrize("is_fast", [True, False])
def test_symbols_train_the_row_for_unknown_ones_by_their_counts(
    monkeypatch, nlp, is_fast
):
    """Each token and attribute is drawn on its own, a rare symbol more often."""
    doc = Doc(nlp.vocab, words=["rare", "frequent"] * 4000)
    counted = Doc(nlp.vocab, words=["rare", *["frequent"] * 4])
    model = build([counted], attrs=["NORM"], unknown_rate=0.5, dropout=None)
    if not is_fast:
        note_calls(*get_nodes(model, "list2ragged"))  # so layers run one by one
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
    # not in prediction
    np.testing.assert_allclose(model.predict([doc])[0], expected, atol=1e-5)


def test_without_unknown_rate_nothing_is_drawn_or_kept(docs):
    model = build(docs, dropout=None)
    state = np.random.get_state()[1].copy()
    model.begin_update(docs)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert all(e.attrs["counts"] is None for e in find_symbol_takers(model))


def test_counts_are_saved_and_stale_ones_never_used(docs):
    model = build(docs, unknown_rate=0.5)
    loaded = build(docs).from_bytes(model.to_bytes())
    counts = [embed.attrs["counts"].tolist() for embed in find_symbol_takers(loaded)]
    assert [sorted(of_attr) for of_attr in counts] == [[1, 1, 1, 3], [1, 1, 4]]
    for embed in find_symbol_takers(model):
        give_symbols(embed, Symbols(embed.attrs["symbols"]))
        assert embed.attrs["counts"] is None
        embed.attrs["counts"] = embed.attrs["symbols"][1:]
    with pytest.raises(ValueError, match=r"'counts' .* should be a count for each sym"):
        model.begin_update(docs)


def test_dropout_sites(docs):
    """A number makes sites that the trainer's rate replaces, null makes none."""

    def get_rates(model):
        nodes = model.walk()
        return [n.attrs["dropout_rate"] for n in nodes if "dropout_rate" in n.attrs]

    assert get_rates(build(docs, dropout=0.3)) == [0.3] * 3
    assert get_rates(set_dropout_rate(build(docs), 0.1)) == [0.1] * 3
    assert get_rates(set_dropout_rate(build(docs, dropout=None), 0.1)) == []


def test_symbols_from_a_file(docs, tmp_path):
    path = tmp_path / "tables.npz"
    missing = MultiEmbed(**SETTINGS, tables=path)
    with pytest.raises(FileNotFoundError, match=r"tables\.npz.*hashembeds tables"):
        missing.initialize(X=docs)
    model = MultiEmbed(**SETTINGS, tables=path)
    for attrs, lang, message in [
        (["NORM", "SHAPE"], "de", r"'de'.*pipeline's is 'en'.*--lang en"),
        (["NORM"], "en", r"no symbol table for SHAPE, only for NORM"),
        (["NORM", "SHAPE"], "en", ""),
    ]:
        counts = count_values(docs, attrs)
        save_symbols(path, cut_symbols(counts, min_freq=1, lang=lang))
        with pytest.raises(ValueError, match=message) if message else nullcontext():
            model.initialize(X=docs)
    assert [embed.get_dim("nV") for embed in find_symbol_takers(model)] == [5, 4]
    path.unlink()
    loaded = MultiEmbed(**SETTINGS, tables=path).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(loaded.predict(docs)[0], model.predict(docs)[0])
