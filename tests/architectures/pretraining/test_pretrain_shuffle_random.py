"""The objective alone: what it makes of Docs, its loss, its gradient and its layer."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import build_Tok2Vec_model
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model, fix_random_seed, get_current_ops, set_dropout_rate

from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.architectures.encoders.maxout_window_encoder import (
    MaxoutWindowEncoder,
)
from spacy_hashembeds.architectures.pretraining.pretrain_shuffle_random import (
    INTACT,
    RANDOM,
    SHUFFLED,
    PretrainShuffleRandom,
    corrupt_docs,
    get_loss,
    measure_loss,
)
from spacy_hashembeds.corpora.rawtexts import MEASURES

from ... import toy_embedders
from ...conftest import with_contractions

NAME = "spacy-hashembeds.PretrainShuffleRandom.v1"

#: All that embedders read of a token.
ATTRS = "ORTH NORM LOWER PREFIX SUFFIX SHAPE IS_SPACE LIKE_NUM LENGTH".split()

TEXTS = [
    "I don't know  what Dr. O'Neil can't do, 'cause he's in New York!",
    "",
    "Zürich :-) 😀 https://example.com 1,000 €",
    "the the the",
    "alone",
    " \n two lines\n ",
]


@pytest.fixture(scope="module")
def nlp():
    """A tokenizer that gives tokens norms of their own, and some words vectors."""
    with with_contractions():
        nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=3)
    for i, word in enumerate(["do", "York", "the"], start=1):
        nlp.vocab.set_vector(word, np.full(3, i, dtype="f"))
    return nlp


@pytest.fixture
def docs(nlp) -> list[Doc]:
    docs = [nlp.make_doc(text) for text in TEXTS]
    docs.append(Doc(nlp.vocab, words=["white", "space", "is", "not", "known"]))
    docs[2][1].norm_ = "smile"  # as a matcher or a tokenizer of one's own may
    return docs


def read(docs: list[Doc], attrs=ATTRS) -> list[tuple]:
    """What embedders read of each token."""
    return [
        (*of_token, *vector.tolist())
        for doc in docs
        for of_token, vector in zip(
            doc.to_array(attrs).reshape(len(doc), len(attrs)).tolist(),
            (token.vector for token in doc),
            strict=True,
        )
    ]


def corrupt(docs: list[Doc], shuffle: float, random: float, seed: int = 0):
    fix_random_seed(seed)
    return corrupt_docs(docs, shuffle=shuffle, random=random)


# What becomes of Docs


def test_what_is_not_replaced_is_as_it_was(docs):
    made, labels = corrupt(docs, 0, 0)
    assert [len(doc) for doc in made] == [len(doc) for doc in docs]
    assert read(made, [*ATTRS, "SPACY"]) == read(docs, [*ATTRS, "SPACY"])
    assert labels.tolist() == [INTACT] * sum(map(len, docs))
    norms = [token.norm_ for token in made[0]]
    assert "not" in norms  # the tokenizer's, of "n't": its lexeme has another
    assert made[2][1].norm_ == "smile"


@pytest.mark.parametrize("seed", range(3))
def test_words_come_whole_and_white_space_stays(docs, seed):
    before = read(docs)
    made, labels = corrupt(docs, 0.4, 0.4, seed=seed)
    assert read(docs) == before  # what was given is left alone
    for old, new in zip(docs, made, strict=True):
        np.testing.assert_array_equal(old.to_array("SPACY"), new.to_array("SPACY"))
    texts = [i for i, doc in enumerate(docs) for _ in doc]
    for text, old, new, label in zip(texts, before, read(made), labels, strict=True):
        if label == INTACT:
            assert new == old
            continue
        assert new[0] != old[0]  # another word
        sources = {t for t, word in zip(texts, before, strict=True) if word == new}
        if label == SHUFFLED:
            assert text in sources
        else:
            assert sources - {text}
    assert {INTACT, SHUFFLED, RANDOM} == set(labels.tolist())


def test_docs_of_several_vocabs_are_refused(docs):
    other = spacy.blank("de").make_doc("aus einem anderen Vokabular")
    with pytest.raises(ValueError, match=r"of one vocab, .* several\. .*nlp\.vocab"):
        corrupt([*docs, other], 0.1, 0.1)


# The layer


def build(docs: list[Doc], **settings: Any) -> Model:
    """The objective over a small tok2vec, resolved as from a config."""
    fix_random_seed(0)
    block = {"objective": {"@architectures": NAME, **settings}}
    create_objective = registry.resolve(block)["objective"]
    embed = MultiFewerHashEmbed(
        width=8, attrs=["NORM", "SHAPE"], rows=[50, 20], include_static_vectors=False
    )
    encode = MaxoutWindowEncoder(width=8, window_size=1, maxout_pieces=2, depth=1)
    model = create_objective(docs[0].vocab, build_Tok2Vec_model(embed, encode))
    softmax = model.initialize(X=docs).get_ref("output_layer")
    state = np.random.default_rng(0)  # it begins with zeros
    softmax.set_param("W", state.normal(size=softmax.get_param("W").shape).astype("f"))
    return model


def get_gradients(model: Model) -> list[np.ndarray]:
    """Copy the gradients, which what comes is added to."""
    return [gradient.copy() for gradient in toy_embedders.get_gradients(model)]


def update(model: Model, docs: list[Doc], seed: int = 0):
    """The loss of a batch as `spacy pretrain` has it, and the backward pass."""
    fix_random_seed(seed)
    predictions, backprop = model.begin_update(docs)
    loss, gradient = model.attrs["loss"](model.ops, docs, predictions)
    return loss, gradient, backprop


def test_the_loss_is_a_sum_and_the_gradient_that_of_a_mean():
    scores = np.log(np.array([[1, 1, 2], [6, 1, 1]], dtype="f"))
    probs = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = np.array([RANDOM, INTACT])
    loss, gradient = get_loss(get_current_ops(), [], (probs, labels))
    assert loss == pytest.approx(np.log(2) + np.log(8 / 6), rel=1e-5)
    expected = [[1 / 8, 1 / 8, -2 / 8], [-1 / 8, 1 / 16, 1 / 16]]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_gradients_are_those_of_finite_differences(docs):
    model = build(docs)
    _, gradient, backprop = update(model, docs)
    backprop(gradient)
    n, eps = sum(map(len, docs)), 1e-3
    state = np.random.default_rng(0)
    nodes = [node for node in model.walk() if node.name in ("softmax", "maxout")]
    assert len(nodes) == 3
    for node in nodes:
        for name in node.param_names:
            param, found = node.get_param(name), node.get_grad(name)
            for _ in range(4):
                index = tuple(state.integers(size) for size in param.shape)
                losses = []
                for step in (eps, -2 * eps, eps):
                    losses.append(update(model, docs)[0] / n)
                    param[index] += step
                slope = (losses[1] - losses[2]) / (2 * eps)
                assert found[index] == pytest.approx(slope, abs=5e-4)
    assert any(abs(gradient).max() > 1e-3 for gradient in get_gradients(model))


def test_predictions_are_of_docs_as_they_are(docs):
    model = build(docs, shuffle=0.5, random=0.5)
    probs, labels = model.predict(docs)
    assert (probs.shape, probs.dtype) == ((sum(map(len, docs)), 3), "float32")
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=1e-5)
    assert not labels.any()
    # what else is in a batch changes nothing
    alone = np.concatenate([model.predict([doc])[0] for doc in docs])
    np.testing.assert_allclose(probs, alone, atol=1e-5)


def test_labels_are_those_of_the_batch_that_was_predicted(docs):
    """Nothing is kept in the layer between the forward pass and the loss."""
    model = build(docs)
    fix_random_seed(0)
    first, _ = model.begin_update(docs)
    loss = get_loss(model.ops, docs, first)[0]
    second, _ = model.begin_update(docs[::-1])
    assert second[1].tolist() != first[1].tolist()
    assert get_loss(model.ops, docs, first)[0] == loss
    _, labels = corrupt(docs, 0.1, 0.1)
    assert first[1].tolist() == labels.tolist()


@pytest.mark.parametrize("n_empty", [0, 1, 3])
def test_batches_without_a_token(docs, n_empty):
    model = build(docs)
    empty = [docs[1]] * n_empty
    loss, gradient, backprop = update(model, empty)
    assert (loss, gradient.shape) == (0, (0, 3))
    backprop(gradient)
    assert not any(gradient.any() for gradient in get_gradients(model))
    assert model.predict(empty)[0].shape == (0, 3)


def test_dropout_is_that_of_pretraining(docs):
    model = build(docs)
    losses = {update(model, docs)[0] for _ in range(3)}
    assert len(losses) == 1
    set_dropout_rate(model, 0.5)
    # in the tok2vec, and on its output
    for node in model.get_ref("tok2vec").walk():
        if "dropout_rate" in node.attrs:
            node.attrs["dropout_rate"] = 0.0
    assert update(model, docs)[0] not in losses


def test_equal_seeds_give_equal_models(docs):
    trained = []
    for seed in (0, 0, 1):
        model = build(docs)
        _, gradient, backprop = update(model, docs, seed=seed)
        backprop(gradient)
        trained.append(np.concatenate([g.reshape(-1) for g in get_gradients(model)]))
    np.testing.assert_array_equal(trained[0], trained[1])
    assert abs(trained[0] - trained[2]).max() > 1e-3


def test_it_can_be_saved_and_copied(docs):
    model = build(docs, shuffle=0.2, random=0.3)
    model.get_ref("output_layer").get_param("W")[...] *= 2
    loaded = build(docs).from_bytes(model.to_bytes())
    copies = [loaded, model.copy(), copy.deepcopy(model)]
    copies.append(pickle.loads(pickle.dumps(model)))
    for other in copies:
        assert update(other, docs)[0] == update(model, docs)[0]
        np.testing.assert_array_equal(other.predict(docs)[0], model.predict(docs)[0])


# Texts that are held out


def test_a_loss_is_measured_as_it_is_learned_by(docs):
    """Of the same words, replaced alike, without dropout."""
    model = build(docs)
    set_dropout_rate(model, 0.5)
    found = measure_loss(model, docs)
    set_dropout_rate(model, 0.0)
    loss, _, _ = update(model, docs, seed=0)  # a measure draws with this seed too
    assert found == pytest.approx(loss / sum(map(len, docs)), rel=1e-5)


def test_measuring_changes_nothing(docs):
    """Neither weights nor gradients, nor what is drawn thereafter."""
    model = build(docs)
    weights = model.to_bytes()
    fix_random_seed(1)
    losses = {measure_loss(model, docs) for _ in range(3)}
    assert len(losses) == 1
    assert np.random.uniform() == np.random.RandomState(1).uniform()
    assert not get_gradients(model)
    assert model.to_bytes() == weights


def test_many_texts_are_measured_like_few(docs):
    model = build(docs, random=0)
    once = measure_loss(model, docs)
    assert measure_loss(model, iter(docs * 40)) == pytest.approx(once, rel=0.2)
    assert measure_loss(model, []) == 0


def test_the_reader_learns_how_to_measure(docs):
    model = build(docs)
    MEASURES[docs[0]] = measures = {}
    model.predict(docs)
    assert not measures
    model.begin_update(docs)
    measure = measures["loss"]
    model.predict(docs)  # without folded tables, as an update is expected
    assert measure(docs) == measure_loss(model, docs)


@pytest.mark.parametrize("value", [-0.1, 1.5, None, float("nan")])
@pytest.mark.parametrize("name", ["shuffle", "random"])
def test_damaged_attributes_are_refused(docs, name, value):
    model = build(docs)
    model.attrs[name] = value
    with pytest.raises(ValueError, match=rf"attribute '{name}' of.*number from 0 to 1"):
        model.begin_update(docs)


@pytest.mark.parametrize("value", [-0.1, 1, 1.5, "0.1", None, True, float("nan")])
@pytest.mark.parametrize("name", ["shuffle", "random"])
def test_shares_that_can_not_be_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"'{name}'.*in \[0, 1\), but is {value!r}\."):
        PretrainShuffleRandom(**{name: value})


def test_something_has_to_be_replaced():
    with pytest.raises(ValueError, match=r"'shuffle' and 'random' should not both be"):
        PretrainShuffleRandom(shuffle=0, random=0.0)
    PretrainShuffleRandom(shuffle=0)
    PretrainShuffleRandom(random=0)
