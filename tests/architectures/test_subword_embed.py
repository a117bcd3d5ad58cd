"""`SubwordEmbed.v1`: character n-grams of words beside the tables of an embedder.

That it is the same by the fast path, in numpy, on a GPU, trained, copied and changed,
is tested for it as for all embedders: see `BUILDERS`.
"""

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures import subword_embed
from spacy_hashembeds.architectures.floret import Ngrams
from spacy_hashembeds.architectures.subword_embed import SubwordEmbed

from ..toy_embedders import build_hash


def make(docs, **options) -> tuple[Model, Model]:
    """The layer that runs once for each word, and what it runs."""
    fix_random_seed(0)
    model = SubwordEmbed(**{"rows": 50, "width": 7, **options})
    model.initialize(X=docs)
    return model, model.layers[0]


@pytest.mark.parametrize(
    "options", [{"minn": 3, "maxn": 5}, {"minn": 2, "maxn": 3, "num_hashes": 2}]
)
def test_a_word_and_its_gradient_are_the_scaled_sum_of_its_rows(nlp, options):
    docs = [nlp("Anna sang"), nlp("")]
    model, layer = make(docs, **options)
    vectors, backprop = model.begin_update(docs)
    assert [v.shape for v in vectors] == [(2, 7), (0, 7)]
    backprop(vectors)
    E, dE = layer.get_param("E"), np.zeros((50, 7))
    ngrams = Ngrams(**{"num_hashes": 1, "rows": 50, **options})
    for word, vector in zip(["anna", "sang"], vectors[0], strict=True):
        rows, _ = ngrams.find_rows([word])
        expected = E[rows].sum(axis=0) / np.sqrt(len(rows))
        np.testing.assert_allclose(vector, expected, rtol=1e-5)
        np.add.at(dE, rows, vector / np.sqrt(len(rows)))
    np.testing.assert_allclose(layer.get_grad("E"), dE, atol=1e-5)


@pytest.mark.parametrize(
    ("attr", "is_same"), [("LOWER", True), ("NORM", True), ("ORTH", False)]
)
def test_what_a_word_is_says_the_attribute(nlp, attr, is_same):
    docs = [Doc(nlp.vocab, words=["Anna", "anna"])]
    first, second = make(docs, attr=attr)[0].predict(docs)[0]
    assert (first == second).all() == is_same


def test_another_layer_may_take_the_place_of_subwords(nlp):
    """By Thinc's layers, one after the other."""
    docs = [nlp("Anna sang"), nlp("")]

    def forward(model, docs, is_train):
        return [np.full((len(doc), 2), len(doc), "f") for doc in docs], lambda dY: []

    other: Model = Model("other", forward, dims={"nO": 2})
    model = build_hash(nlp.vocab, subwords=other)
    Y, backprop = model.begin_update(docs)
    assert [y.shape for y in Y] == [(2, 6), (0, 6)]
    backprop(Y)
    alone = np.concatenate([model.predict([doc])[0] for doc in docs])
    np.testing.assert_allclose(np.concatenate(Y), alone, atol=1e-5)


def test_prediction_gathers_some_words_at_a_time(nlp, monkeypatch):
    docs = [Doc(nlp.vocab, words=[f"word{i}" for i in range(41)])]
    model, _ = make(docs)
    (expected,), sizes, find_rows = model.predict(docs), [], Ngrams.find_rows

    def note(ngrams, words):
        sizes.append(len(words))
        return find_rows(ngrams, words)

    monkeypatch.setattr(Ngrams, "find_rows", note)
    monkeypatch.setattr(subword_embed, "_BLOCK", 20)
    np.testing.assert_array_equal(model.predict(docs)[0], expected)
    assert sizes == [20, 20, 1]
