"""`CharCNNEmbed.v1`: characters, capitalisation, vectors, and another embedder."""

import numpy as np
import pytest
from spacy.ml.models.tok2vec import MultiHashEmbed
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.papers.why_attention.char_cnn_embed import (
    CharCNNEmbed,
    find_mixer,
    find_word,
)
from spacy_hashembeds.papers.why_attention.words import find_capitalisation

from ...toy_embedders import get_nodes, make_docs

WORD = {"width": 6, "attrs": ["NORM"], "rows": [11], "include_static_vectors": False}


def make(**options) -> Model:
    fix_random_seed(0)
    options = {"include_static_vectors": False, "num_kernels": 2, **options}
    return CharCNNEmbed(**{"char_width": 3, "max_chars": 5, **options})


#: Arguments, and how wide what they make is.
KINDS = {
    "as they are": (dict, 10),
    "vectors": (lambda: {"include_static_vectors": True}, 15),
    "word": (lambda: {"word": MultiFewerHashEmbed(**WORD)}, 16),
    "all": (
        lambda: {"word": MultiHashEmbed(**WORD), "include_static_vectors": True},
        21,
    ),
}


def embed_plainly(model, doc) -> np.ndarray:
    """A token at a time, from the layers."""
    (chars,) = get_nodes(model, "charcnn")
    words = [token.text for token in doc]
    parts = [
        np.vstack([chars.predict([word])[0] for word in words]),
        np.eye(5, 4, dtype="f")[[find_capitalisation(word) for word in words]],
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
    model = make(width=width, **make_arguments()).initialize(X=make_docs(vocab))
    mixer = find_mixer(model)
    assert model.get_dim("nO") == (width or expected_width)
    for doc, Y in zip(docs, model.predict(docs), strict=True):
        assert (Y.shape, Y.dtype) == ((len(doc), model.get_dim("nO")), "float32")
        if len(doc):
            parts = embed_plainly(model, doc)
            expected = parts if mixer is None else mixer.predict(parts)
            np.testing.assert_allclose(Y, expected, atol=1e-4)


def test_an_embedder_that_does_not_say_how_wide_it_is_is_refused():
    with pytest.raises(ValueError, match="'word'"):
        make(word=MultiHashEmbed(**WORD)).initialize()


def test_capitalisations():
    kinds = [
        "A I USA U.S. F16 ÄÖ ЖЗ",
        "Hello Über O'clock Жук McDonald HELLo ǅ",
        "a hello n't 3rd über жук @user",
        "iPhone eBay #Obama 1St 'Tis",
        "12 ! 中文 ﷺ 😀 $",
    ]
    for column, words in enumerate(kinds):
        assert {find_capitalisation(word) for word in words.split()} == {column}
