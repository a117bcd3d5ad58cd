"""`MultiEmbed.v1`: a row for each known symbol, one for all others."""

import numpy
import pytest
import spacy
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

ATTRS = ["NORM", "SHAPE"]
TEXTS = ["a a b Cc", "", "a zebra"]


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=5)
    nlp.vocab.set_vector("a", numpy.arange(5, dtype="f"))
    return nlp


@pytest.fixture
def docs(nlp):
    return [nlp.make_doc(text) for text in TEXTS]


def save_tables(docs, path, *, lang="en", attrs=ATTRS, min_freq=1):
    counts = count_values(docs, attrs)
    save_symbols(path, cut_symbols(counts, min_freq=min_freq, lang=lang))
    return path


def build(docs, *, min_freq=1, **options):
    options = {"attrs": ATTRS, "include_static_vectors": False, **options}
    model = give_counted(MultiEmbed(width=8, **options), docs, min_freq=min_freq)
    return model.initialize(X=docs)


@pytest.mark.parametrize("is_fast", [True, False])
def test_symbols_train_the_row_for_unknown_ones_by_their_counts(
    monkeypatch, nlp, is_fast
):
    """Each token and attribute is drawn on its own, a rare symbol more often."""
    words = ["rare", "frequent"] * 4000
    doc = Doc(nlp.vocab, words=words)
    counted = Doc(nlp.vocab, words=["rare", *["frequent"] * 4])
    model = build([counted], attrs=["NORM"], unknown_rate=0.5, dropout=None)
    is_taken = []
    begin_update = mixedembed.begin_update
    monkeypatch.setattr(
        mixedembed,
        "begin_update",
        lambda *inputs: is_taken.append(True) or begin_update(*inputs),
    )
    if not is_fast:
        note_calls(*get_nodes(model, "list2ragged"))  # so layers run one by one
    known, unknown = model.predict([counted, Doc(nlp.vocab, words=["new"])])
    Y = model.begin_update([doc])[0][0]
    is_unknown = numpy.isclose(Y, unknown[0], atol=1e-5).all(axis=1)
    numpy.testing.assert_allclose(
        Y[~is_unknown], known[numpy.arange(8000) % 2][~is_unknown], atol=1e-5
    )
    assert is_unknown[::2].mean() == pytest.approx(0.5 / 1.5, abs=0.03)
    assert is_unknown[1::2].mean() == pytest.approx(0.5 / 4.5, abs=0.03)
    assert bool(is_taken) is is_fast
    # free in prediction
    numpy.testing.assert_allclose(
        model.predict([doc])[0], known[numpy.arange(8000) % 2], atol=1e-5
    )


def test_without_unknown_rate_nothing_is_drawn_or_kept(docs):
    model = build(docs, dropout=None)
    state = numpy.random.get_state()[1].copy()
    model.begin_update(docs)
    numpy.testing.assert_array_equal(numpy.random.get_state()[1], state)
    assert all(e.attrs["counts"] is None for e in find_symbol_takers(model))


def test_counts_of_earlier_symbols_are_dropped(docs):
    for embed in find_symbol_takers(build(docs, unknown_rate=0.5)):
        give_symbols(embed, Symbols(embed.attrs["symbols"]))
        assert embed.attrs["counts"] is None


def test_counts_are_saved_and_damaged_ones_refused(docs):
    model = build(docs, unknown_rate=0.5)
    loaded = build(docs).from_bytes(model.to_bytes())
    counts = [embed.attrs["counts"].tolist() for embed in find_symbol_takers(loaded)]
    assert [sorted(of_attr) for of_attr in counts] == [[1, 1, 1, 3], [1, 1, 4]]
    (embed, _) = find_symbol_takers(loaded)
    embed.attrs["counts"] = embed.attrs["counts"][1:]
    loaded.from_bytes(loaded.to_bytes())
    with pytest.raises(ValueError, match=r"'counts' .* should be a count for each sym"):
        loaded.begin_update(docs)


def test_dropout_sites(docs):
    """A number makes sites that the trainer's rate replaces, null makes none."""

    def get_rates(model):
        nodes = model.walk()
        return [n.attrs["dropout_rate"] for n in nodes if "dropout_rate" in n.attrs]

    assert get_rates(build(docs)) == [0.0] * 3
    assert get_rates(build(docs, dropout=0.3, include_static_vectors=True)) == [0.3] * 4
    assert get_rates(set_dropout_rate(build(docs), 0.1)) == [0.1] * 3
    assert get_rates(set_dropout_rate(build(docs, dropout=None), 0.1)) == []


def test_symbols_from_a_file(docs, tmp_path):
    path = save_tables(docs, tmp_path / "tables.npz")
    options = {"width": 8, "attrs": ATTRS, "include_static_vectors": False}
    model = MultiEmbed(**options, tables=path).initialize(X=docs)
    rows = [embed.get_dim("nV") for embed in find_symbol_takers(model)]
    assert rows == [5, 4]
    path.unlink()
    loaded = MultiEmbed(**options, tables=path).from_bytes(model.to_bytes())
    numpy.testing.assert_array_equal(loaded.predict(docs)[0], model.predict(docs)[0])


def test_file_errors_come_when_initialised(docs, tmp_path):
    options = {"width": 8, "attrs": ATTRS, "include_static_vectors": False}
    missing = MultiEmbed(**options, tables=tmp_path / "none.npz")
    with pytest.raises(FileNotFoundError, match=r"none\.npz.*hashembeds tables"):
        missing.initialize(X=docs)
    german = save_tables(docs, tmp_path / "de.npz", lang="de")
    with pytest.raises(ValueError, match=r"'de'.*pipeline's is 'en'.*--lang en"):
        MultiEmbed(**options, tables=german).initialize(X=docs)
    norms = save_tables(docs, tmp_path / "norm.npz", attrs=["NORM"])
    with pytest.raises(ValueError, match=r"no symbol table for SHAPE, only for NORM"):
        MultiEmbed(**options, tables=norms).initialize(X=docs)
