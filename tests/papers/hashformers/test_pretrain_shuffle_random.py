"""Shuffle + Random: which words are replaced, the loss, its gradient and the layer."""

from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed, get_current_ops, set_dropout_rate

from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.papers.hashformers.pretrain_shuffle_random import (
    INTACT,
    RANDOM,
    SHUFFLED,
    PretrainShuffleRandom,
    corrupt,
    corrupt_docs,
    get_loss,
    measure_loss,
)
from spacy_hashembeds.training.rawtexts import MEASURES

from ...conftest import with_contractions

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.99])


def draw(lengths, shuffle, random, words=None, seed=0):
    words = np.arange(sum(lengths)) if words is None else np.array(words)
    draws, sizes = np.random.RandomState(seed), np.array(lengths, dtype="int64")
    return corrupt(words, sizes, shuffle=shuffle, random=random, draws=draws)


@given(
    texts=st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=6),
    shuffle=SHARES,
    random=SHARES,
    seed=st.integers(0, 99),
)
def test_words_come_from_where_the_label_says(texts, shuffle, random, seed):
    """A word in place of itself is intact, and no other is."""
    words = [word for text in texts for word in text]
    sources, labels = draw(list(map(len, texts)), shuffle, random, words, seed=seed)
    of_text = np.repeat(np.arange(len(texts)), list(map(len, texts)))
    for place, (source, label) in enumerate(zip(sources, labels, strict=True)):
        assert (words[source] == words[place]) == (label == INTACT)
        if label != INTACT:
            assert (of_text[source] == of_text[place]) == (label == SHUFFLED)


def test_shares_are_those_asked_for_and_all_tokens_equally_likely():
    sources, labels = draw([4] * 9000, 0.1, 0.2)
    shares = np.bincount(labels, minlength=3) / len(labels)
    np.testing.assert_allclose(shares, [0.9 * 0.8, 0.1, 0.9 * 0.2], atol=0.005)
    n = len(labels)
    steps = (sources - np.arange(n)) % n
    within = np.unique(steps[labels == SHUFFLED], return_counts=True)
    assert within[0].tolist() == [1, 2, 3, n - 3, n - 2, n - 1]
    expected = np.array([3, 2, 1, 1, 2, 3]) / 12
    np.testing.assert_allclose(within[1] / within[1].sum(), expected, atol=0.02)
    quarters = np.bincount(steps[labels == RANDOM] * 4 // n)
    np.testing.assert_allclose(quarters / quarters.sum(), [0.25] * 4, atol=0.02)


#: All that embedders read of a token.
ATTRS = "ORTH NORM LOWER PREFIX SUFFIX SHAPE IS_SPACE LIKE_NUM LENGTH".split()

TEXTS = [
    "I don't know  what Dr. O'Neil can't do, 'cause he's in New York!",
    *("", "Zürich :-) 😀 1,000 €", "the the the", "alone", " \n two lines\n "),
]


@pytest.fixture
def docs() -> list[Doc]:
    """Docs of a tokenizer that gives norms of its own, and of a vocab with vectors."""
    with with_contractions():
        nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=1)
    for i, word in enumerate(["do", "York", "the"], start=1):
        nlp.vocab.set_vector(word, np.full(1, i, dtype="f"))
    docs = [nlp.make_doc(text) for text in TEXTS]
    docs[2][1].norm_ = "smile"  # as a matcher or a tokenizer of one's own may
    return docs


def read(docs: list[Doc]) -> list[tuple]:
    """What embedders read of each token."""
    rows = [row.tolist() for doc in docs for row in doc.to_array(ATTRS)]
    vectors = [token.vector.tolist() for doc in docs for token in doc]
    return [*zip(map(tuple, rows), vectors, strict=True)]


@pytest.mark.parametrize("share", [0, 0.4])
def test_words_come_whole_and_white_space_stays(docs, share):
    before = read(docs)
    fix_random_seed(0)
    made, labels = corrupt_docs(docs, shuffle=share, random=share)
    assert read(docs) == before  # what was given is left alone
    for old, new in zip(docs, made, strict=True):
        np.testing.assert_array_equal(old.to_array("SPACY"), new.to_array("SPACY"))
    for old, new, label in zip(before, read(made), labels, strict=True):
        assert new in before
        assert (new[0][0] == old[0][0]) == (label == INTACT)
    assert set(labels.tolist()) == ({INTACT, SHUFFLED, RANDOM} if share else {INTACT})


def build(docs: list[Doc], **settings: Any) -> Model:
    """The objective over a small tok2vec."""
    fix_random_seed(0)
    tok2vec = MultiFewerHashEmbed(
        width=8, attrs=["NORM", "SHAPE"], rows=[50, 20], include_static_vectors=False
    )
    model = PretrainShuffleRandom(**settings)(docs[0].vocab, tok2vec)
    softmax = model.initialize(X=docs).get_ref("output_layer")  # it begins with zeros
    softmax.set_param("W", np.random.normal(size=(3, 8)).astype("f"))
    return model


def update(model: Model, docs: list[Doc], seed: int = 0):
    """The loss of a batch as `spacy pretrain` has it, and the backward pass."""
    fix_random_seed(seed)
    predictions, backprop = model.begin_update(docs)
    loss, gradient = model.attrs["loss"](model.ops, docs, predictions)
    return loss, gradient, backprop


def test_the_loss_is_a_sum_and_the_gradient_that_of_a_mean():
    probs = np.array([[1 / 4, 1 / 4, 1 / 2], [3 / 4, 1 / 8, 1 / 8]], dtype="f")
    labels = np.array([RANDOM, INTACT])
    loss, gradient = get_loss(get_current_ops(), [], (probs, labels))
    assert loss == pytest.approx(np.log(2) + np.log(4 / 3), rel=1e-5)
    expected = [[1 / 8, 1 / 8, -2 / 8], [-1 / 8, 1 / 16, 1 / 16]]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_predictions_are_of_docs_as_they_are(docs):
    model = build(docs, shuffle=0.5, random=0.5)
    probs, labels = model.predict(docs)
    assert (probs.shape, probs.dtype) == ((sum(map(len, docs)), 3), "float32")
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=1e-5)
    assert not labels.any()
    for nothing in ([], docs[1:2]):
        loss, gradient, backprop = update(model, nothing)
        assert (loss, gradient.shape) == (0, (0, 3))
        backprop(gradient)


def test_a_loss_is_measured_as_it_is_learned_by(docs):
    """Of the same words, replaced alike, without dropout, or other draws."""
    model = build(docs)
    set_dropout_rate(model, 0.5)
    fix_random_seed(1)
    found = measure_loss(model, docs)
    assert np.random.uniform() == np.random.RandomState(1).uniform()
    set_dropout_rate(model, 0.0)
    loss, _, _ = update(model, docs, seed=0)  # a measure draws with this seed too
    assert found == pytest.approx(loss / sum(map(len, docs)), rel=1e-5)
    MEASURES[docs[0]] = measures = {}
    model.begin_update(docs)
    assert measures["loss"](docs) == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize("shares", [{"shuffle": 0, "random": 0.0}, {"random": 1.0}])
def test_shares_have_bounds(shares):
    with pytest.raises(ValueError, match="'random'"):
        PretrainShuffleRandom(**shares)
