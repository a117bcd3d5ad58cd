"""`CharCNNEmbed.v1`: characters, capitalisation, vectors, and another embedder."""

import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import MaxoutWindowEncoder, MultiHashEmbed
from spacy.ml.models.tok2vec import build_Tok2Vec_model as Tok2Vec
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vectors import Vectors
from thinc.api import Adam, Config, Model, fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures.embedders.char_cnn_embed import (
    CharCNNEmbed,
    find_mixer,
    find_word,
)
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.kernels.characters import find_capitalisations

from ...toy_embedders import get_nodes, make_docs, make_gradient, update

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


KINDS = {
    "as they are": lambda: {},
    "mixed": lambda: {"width": 7},
    "vectors": lambda: {"include_static_vectors": True},
    "vectors, mixed": lambda: {"include_static_vectors": True, "width": 7},
    "word": lambda: {"word": make_ours()},
    "word, mixed": lambda: {"word": make_ours(), "width": 7},
    "all": lambda: {"word": make_spacys(), "include_static_vectors": True},
    "all, mixed": lambda: {
        **{"word": make_spacys(), "include_static_vectors": True, "width": 7},
        "maxout_pieces": 2,
    },
}
WIDTHS = [10, 7, 15, 7, 16, 7, 21, 7]


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def model(request, vocab) -> Model:
    return build(vocab, **request.param())


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


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "mixed" not in kind])
def test_parts_stand_side_by_side(vocab, docs, kind):
    model = build(vocab, **KINDS[kind]())
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        if len(doc):
            np.testing.assert_allclose(Y, embed_plainly(model, doc), atol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "mixed" in kind])
def test_parts_are_mixed(vocab, docs, kind):
    model = build(vocab, **KINDS[kind]())
    mixer = find_mixer(model)
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        if len(doc):
            expected = mixer.predict(embed_plainly(model, doc))
            np.testing.assert_allclose(Y, expected, atol=1e-4)


@pytest.mark.parametrize(("kind", "width"), list(zip(KINDS, WIDTHS, strict=True)))
def test_the_width_is_known(vocab, docs, kind, width):
    model = build(vocab, **KINDS[kind]())
    assert model.get_dim("nO") == width
    assert [Y.shape for Y in model.predict(docs)] == [(len(doc), width) for doc in docs]
    assert {Y.dtype.name for Y in model.predict(docs)} == {"float32"}


def test_the_papers_numbers():
    """§3.1: 60 by characters, 4 by capitalisation, and GloVe's 300."""
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("the", np.ones(300, dtype="f"))
    docs = [nlp.make_doc("the The")]
    model = CharCNNEmbed(include_static_vectors=True).initialize(X=docs)
    assert model.get_dim("nO") == 364
    (Y,) = model.predict(docs)
    np.testing.assert_array_equal(Y[:, 60:64], [[0, 0, 1, 0], [0, 1, 0, 0]])
    np.testing.assert_array_equal(Y[:, 64:].T, [[1, 0]] * 300)


@pytest.mark.parametrize("is_train", [False, True])
@pytest.mark.parametrize("width", [None, 7])
def test_each_word_is_computed_once(vocab, width, is_train):
    model, given_words = build(vocab, width=width), []
    (chars,) = get_nodes(model, "charcnn")
    forward = chars._func

    def spy(layer, words, is_train):
        given_words.append(words)
        return forward(layer, words, is_train)

    chars._func = spy
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
def test_dropout_is_for_each_token_and_only_in_training(vocab, word):
    model = build(vocab, width=60, word=None if word is None else word())
    doc = Doc(vocab, words=["a", "a", "a"])
    clean = model.predict([doc])[0]
    set_dropout_rate(model, 0.5)
    np.testing.assert_array_equal(model.predict([doc])[0], clean)
    dropped, _ = model.begin_update([doc])
    assert not np.array_equal(dropped[0][0] == 0, dropped[0][1] == 0)
    assert 0.3 < (dropped[0] == 0).mean() < 0.7


def test_vectors_are_frozen(vocab, docs):
    model = build(vocab, include_static_vectors=True, width=7)
    before = vocab.vectors.data.copy()
    update(model, docs, make_gradient(model.predict(docs)))
    model.finish_update(Adam(0.1))
    np.testing.assert_array_equal(vocab.vectors.data, before)


def test_configs_give_the_other_embedder(docs):
    text = """
    [embed]
    width = 7
    include_static_vectors = false

    [embed.word]
    @architectures = "spacy-hashembeds.MultiFewerHashEmbed.v1"
    width = 6
    attrs = ["NORM"]
    rows = [11]
    include_static_vectors = false
    """
    config = Config().from_str("\n".join(map(str.strip, text.splitlines())))
    arguments = registry.resolve(config)["embed"]
    model = CharCNNEmbed(**arguments).initialize(X=docs)
    assert find_word(model).name == "multi_fewer_hash_embed"
    assert model.predict(docs)[0].shape == (3, 7)


@pytest.mark.parametrize("word", [None, make_ours])
def test_encoders_follow(vocab, docs, word):
    embed = make(width=8, word=None if word is None else word())
    encode = MaxoutWindowEncoder(width=8, window_size=1, maxout_pieces=2, depth=2)
    model = Tok2Vec(embed, encode).initialize(X=docs)
    target, optimizer, losses = np.ones((3, 8), dtype="f"), Adam(0.01), []
    for _ in range(20):
        Ys, backprop = model.begin_update(docs[:1])
        backprop([Ys[0] - target])
        model.finish_update(optimizer)
        losses.append(float(((Ys[0] - target) ** 2).sum()))
    assert losses[-1] < losses[0] / 2


def test_vectors_that_are_not_there_are_refused():
    blank = spacy.blank("en").vocab
    model = make(include_static_vectors=True)
    with pytest.raises(ValueError, match=r"'include_static_vectors' .* has no vectors"):
        model.initialize(X=make_docs(blank))
    with pytest.raises(ValueError, match=r"'include_static_vectors' .* are no Docs"):
        model.initialize()


def test_vectors_of_another_width_are_refused(vocab):
    model = build(vocab, include_static_vectors=True)
    other = spacy.blank("en").vocab
    other.set_vector("a", np.ones(4, dtype="f"))
    with pytest.raises(ValueError, match=r"vectors should be of width 5, .* width 4"):
        model.predict(make_docs(other))


def test_an_embedder_that_does_not_say_how_wide_it_is_is_refused():
    with pytest.raises(ValueError, match=r"'word', the layer '.*',.* Docs with tokens"):
        make(word=make_spacys()).initialize()


def test_weights_of_other_parts_are_refused(vocab):
    saved = build(vocab, include_static_vectors=True).to_bytes()
    with pytest.raises(ValueError, match="mismatched structure"):
        make().from_bytes(saved)
    narrow = build(vocab, width=6).to_bytes()
    with pytest.raises(ValueError, match="nO"):
        make(width=7).from_bytes(narrow)
