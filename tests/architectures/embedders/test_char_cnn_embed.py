"""`CharCNNEmbed.v1`: characters, capitalisation, vectors, and another embedder."""

import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import Model, fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures.embedders.char_cnn_embed import (
    CharCNNEmbed,
    capitalisation,
    find_mixer,
    find_word,
)
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.kernels.characters import find_capitalisations

from ...toy_embedders import get_nodes, make_docs, note_calls

WORD = {"width": 6, "attrs": ["NORM"], "rows": [11], "include_static_vectors": False}


def make(**options) -> Model:
    options = {"include_static_vectors": False, "num_kernels": 2, **options}
    return CharCNNEmbed(**{"char_width": 3, "max_chars": 5, **options})


def build(vocab, **options) -> Model:
    fix_random_seed(0)
    return make(**options).initialize(X=make_docs(vocab))


def make_ours() -> Model:
    return MultiFewerHashEmbed(**WORD)


def make_spacys() -> Model:
    return MultiHashEmbed(**WORD)


#: Arguments, and how wide what they make is.
KINDS = {
    "as they are": (dict, 10),
    "vectors": (lambda: {"include_static_vectors": True}, 15),
    "word": (lambda: {"word": make_ours()}, 16),
    "all": (lambda: {"word": make_spacys(), "include_static_vectors": True}, 21),
}


def embed_plainly(model, doc) -> np.ndarray:
    """A token at a time, from the layers."""
    (chars,) = get_nodes(model, "charcnn")
    words = [token.text for token in doc]
    parts = [
        np.vstack([chars.predict([word])[0] for word in words]),
        find_capitalisations(words),
    ]
    if get_nodes(model, "word_vectors"):
        parts.append(np.vstack([token.vector for token in doc]))
    if word := find_word(model):
        parts.append(word.predict([doc])[0])
    return np.hstack(parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [None, 7])
def test_parts_stand_side_by_side_or_are_mixed(vocab, docs, kind, width):
    make_arguments, expected_width = KINDS[kind]
    model = build(vocab, width=width, **make_arguments())
    mixer = find_mixer(model)
    assert model.get_dim("nO") == (width or expected_width)
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        assert (Y.shape, Y.dtype) == ((len(doc), model.get_dim("nO")), "float32")
        if len(doc):
            parts = embed_plainly(model, doc)
            expected = parts if mixer is None else mixer.predict(parts)
            np.testing.assert_allclose(Y, expected, atol=1e-4)


@pytest.mark.parametrize("is_train", [False, True])
@pytest.mark.parametrize("width", [None, 7])
def test_each_word_is_computed_once(vocab, width, is_train):
    model = build(vocab, width=width)
    given_words = note_calls(*get_nodes(model, "charcnn"))
    docs = [Doc(vocab, words=words.split()) for words in ("a B a", "B c", "a")]
    model(docs, is_train)
    assert [sorted(words) for words in given_words] == [["B", "a", "c"]]


def test_words_that_differ_in_nothing_but_a_vector_are_told_apart():
    """By the attribute that the vocab has vectors for, which depends on the token."""
    nlp = spacy.blank("en")
    data = np.array([[1, 1], [2, 2]], dtype="f")
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=data, keys=["x", "y"], attr="NORM"
    )
    doc = Doc(nlp.vocab, words=["w", "w", "w"])
    for token, norm in zip(doc, "xyx", strict=True):
        token.norm_ = norm
    model = make(include_static_vectors=True).initialize(X=[doc])
    (Y,) = model.predict([doc])
    assert Y[:, -1].tolist() == [1, 2, 1]
    np.testing.assert_array_equal(Y[:, :-2], Y[[0, 0, 0], :-2])


@pytest.mark.parametrize("width", [None, 7])
def test_empty_docs_say_how_wide_vectors_are(vocab, width):
    model = make(include_static_vectors=True, width=width)
    model.initialize(X=make_docs(vocab, [0]))
    assert model.get_dim("nO") == (width or 15)
    assert len(model.predict(make_docs(vocab, [2]))[0]) == 2


@pytest.mark.parametrize("word", [None, make_ours])
def test_dropout_is_for_each_token(vocab, word):
    model = build(vocab, width=60, word=None if word is None else word())
    doc = Doc(vocab, words=["a", "a", "a"])
    set_dropout_rate(model, 0.5)
    dropped, _ = model.begin_update([doc])
    assert not np.array_equal(dropped[0][0] == 0, dropped[0][1] == 0)
    assert 0.3 < (dropped[0] == 0).mean() < 0.7


def test_without_docs_nobody_knows_how_wide_vectors_are():
    with pytest.raises(ValueError, match=r"'include_static_vectors' .* are no Docs"):
        make(include_static_vectors=True).initialize()


def test_vectors_of_another_width_are_refused(vocab):
    model = build(vocab, include_static_vectors=True)
    other = spacy.blank("en").vocab
    other.set_vector("a", np.ones(4, dtype="f"))
    with pytest.raises(ValueError, match=r"vectors should be of width 5, .* width 4"):
        model.predict(make_docs(other))


def test_an_embedder_that_does_not_say_how_wide_it_is_is_refused():
    with pytest.raises(ValueError, match=r"'word', the layer '.*',.* Docs with tokens"):
        make(word=make_spacys()).initialize()


def test_capitalisation_has_no_weights_and_no_gradient():
    model = capitalisation().initialize()
    Y, backprop = model.begin_update(["Ab", "12", "ab"])
    assert Y.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert backprop(Y) == []
    assert model.predict([]).shape == (0, model.get_dim("nO")) == (0, 4)
