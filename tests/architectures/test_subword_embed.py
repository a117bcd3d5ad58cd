"""`SubwordEmbed.v1`: character n-grams of words beside the tables of an embedder.

That it is the same by the fast path, in numpy, on a GPU, trained, copied and changed,
is tested for it as for all embedders: see `BUILDERS`.
"""

import tracemalloc

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures import subword_embed
from spacy_hashembeds.architectures.distinct_words import Words
from spacy_hashembeds.architectures.subword_embed import KeptRows, SubwordEmbed
from spacy_hashembeds.layers.subwords import Ngrams

from ..layers.differences import differentiate
from ..toy_embedders import build_hash


def make(docs, **options) -> tuple[Model, Model]:
    """The layer that runs once for each word, and what it runs."""
    fix_random_seed(0)
    model = SubwordEmbed(**{"rows": 50, "width": 7, **options})
    model.initialize(X=docs)
    return model, model.layers[0]


@pytest.mark.parametrize(
    ("options", "ngrams"),
    [
        ({}, Ngrams(3, 5, 1, 50)),
        (
            {"minn": 2, "maxn": 3, "num_hashes": 2},
            Ngrams(2, 3, 2, 50),
        ),
    ],
)
def test_a_word_is_the_scaled_sum_of_its_rows(nlp, options, ngrams):
    docs = [nlp("Anna sang"), nlp("")]
    model, layer = make(docs, **options)
    vectors = model.predict(docs)
    assert [v.shape for v in vectors] == [(2, 7), (0, 7)]
    E = layer.get_param("E")
    for word, vector in zip(["anna", "sang"], vectors[0], strict=True):
        rows, _ = ngrams.find_rows([word])
        expected = E[rows].sum(axis=0) / np.sqrt(len(rows))
        np.testing.assert_allclose(vector, expected, rtol=1e-5)


def test_gradients_are_those_of_finite_differences(nlp):
    docs = [nlp("Anna sang ana Anna"), nlp("s")]
    model, layer = make(docs, rows=11, width=3, minn=1, maxn=2)
    d_outputs = [np.cos(v) for v in model.predict(docs)]
    _, backprop = model.begin_update(docs)
    backprop([d.copy() for d in d_outputs])

    def get_loss():
        outputs = model.predict(docs)
        return sum((d * Y).sum() for d, Y in zip(d_outputs, outputs, strict=True))

    expected = differentiate(get_loss, layer.get_param("E"), step=0.5)
    np.testing.assert_allclose(layer.get_grad("E"), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("attr", "is_same"), [("LOWER", True), ("NORM", True), ("ORTH", False)]
)
def test_what_a_word_is_says_the_attribute(nlp, attr, is_same):
    docs = [Doc(nlp.vocab, words=["Anna", "anna"])]
    model, _ = make(docs, attr=attr)
    first, second = model.predict(docs)[0]
    assert (first == second).all() == is_same


@pytest.mark.parametrize("wrong", [Model("other", lambda *_: None), "LOWER", {}])
def test_nothing_else_is_taken_for_subwords(nlp, wrong):
    with pytest.raises(ValueError, match=r"'subwords' should.*SubwordEmbed\.v1, or"):
        build_hash(nlp.vocab, subwords=wrong)


def test_damaged_attributes_are_refused(nlp):
    docs = [nlp("Anna sang")]
    model, layer = make(docs)
    layer.attrs["kept_rows"] = {}
    with pytest.raises(ValueError, match="'kept_rows'"):
        model.predict(docs)


def test_settings_that_change_while_rows_are_found_are_seen(nlp, monkeypatch):
    docs = [nlp("Anna sang")]
    model, layer = make([nlp("")])
    find_rows = Ngrams.find_rows

    def change_before(ngrams, words):
        monkeypatch.setattr(Ngrams, "find_rows", find_rows)
        layer.attrs["maxn"] = 3
        model.predict(docs)  # as another thread
        return find_rows(ngrams, words)

    monkeypatch.setattr(Ngrams, "find_rows", change_before)
    model.predict(docs)
    assert Ngrams.find_rows is find_rows, "no rows were found"
    expected = make(docs, maxn=3)[0].predict(docs)[0]
    np.testing.assert_array_equal(model.predict(docs)[0], expected)


@pytest.mark.parametrize("n_docs", [1, 40])
def test_rows_that_are_kept_are_bounded(nlp, monkeypatch, n_docs):
    monkeypatch.setattr(subword_embed, "MAX_KEPT", 1000)
    words = [f"word{i}" for i in range(80)]
    docs = [Doc(nlp.vocab, words=words[i::n_docs]) for i in range(n_docs)]
    model, layer = make(docs)
    expected = np.concatenate(make(docs)[0].predict(docs))
    one_by_one = np.concatenate([model.predict([doc])[0] for doc in docs])
    np.testing.assert_array_equal(one_by_one, expected)
    _, kept = layer.attrs["kept_rows"]._kept
    assert 0 < len(kept) < 20


def test_rows_are_kept_again_once_there_was_no_room(nlp, monkeypatch):
    monkeypatch.setattr(subword_embed, "MAX_KEPT", 1000)
    docs = [Doc(nlp.vocab, words=[f"word{i}"]) for i in range(80)]
    model, _ = make(docs)
    for doc in docs:
        model.predict([doc])
    found, find_rows = [], Ngrams.find_rows

    def note(ngrams, words):
        found.extend(words)
        return find_rows(ngrams, words)

    monkeypatch.setattr(Ngrams, "find_rows", note)
    for doc in docs[:4] * 3:
        model.predict([doc])
    assert len(found) <= 2 * 4, "words have to go for others once at most"


@pytest.mark.parametrize("length", [1, 20, 1000])
def test_memory_of_kept_rows_is_bounded(nlp, monkeypatch, length):
    """20 MB as it is: of short words each array takes more than its rows."""
    monkeypatch.setattr(subword_embed, "MAX_KEPT", 2**14)
    kept, ngrams, peak = KeptRows(), Ngrams(3, 5, 1, 5000), 0
    words = [chr(0x4E00 + i) * length for i in range(700)]
    batches = [*(words[i : i + 7] for i in range(0, 350, 7)), words[350:]]
    docs = [Doc(nlp.vocab, words=batch) for batch in batches]
    tracemalloc.start()
    try:
        for doc in docs:
            keys = doc.to_array(["ORTH"]).reshape(-1, 1)
            kept.get(ngrams, Words([nlp.vocab], keys))
            peak = max(peak, tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert peak < 20e6 * 2**14 / 2**22 * 1.2


def test_many_words_are_embedded_in_blocks(nlp, monkeypatch):
    docs = [Doc(nlp.vocab, words=[f"word{i}" for i in range(41)])]
    model, _ = make(docs)
    expected = model.predict(docs)[0]
    sizes = []
    get = subword_embed.KeptRows.get

    def note(kept, ngrams, words):
        sizes.append(len(words.keys))
        return get(kept, ngrams, words)

    monkeypatch.setattr(subword_embed.KeptRows, "get", note)
    monkeypatch.setattr(subword_embed, "_BLOCK", 20)
    np.testing.assert_array_equal(model.predict(docs)[0], expected)
    assert sizes == [20, 20, 1]
    sizes.clear()
    model.begin_update(docs)
    assert sizes == [41]
