"""N-grams, snippets and sums, compared with plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps, Ragged, fix_random_seed

from spacy_hashembeds.layers.symbolembed import SymbolEmbed
from spacy_hashembeds.layers.tableembed import HashEmbed
from spacy_hashembeds.layers.vocabulary import Symbols, assign_symbols
from spacy_hashembeds.papers.hash_embeddings.ngrams import (
    TextNgrams,
    cut_snippets,
    extract_words,
    hash_ngrams,
    sum_ngrams,
)
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedHashEmbed

from ..toy_embedders import assert_gradients_close, get_gradients
from .definitions import list_ngrams, randomize

OPS = NumpyOps()


def make_lists(lowest: int, highest: int):
    numbers = st.integers(lowest, highest)
    return st.lists(st.lists(numbers, max_size=7), max_size=6)


def list_keys(words: list[int], ngram_size: int) -> list[int]:
    """Compute `hash_ngrams` for one text. One word is its own key."""
    arrays = list_ngrams(np.array(words, dtype="uint64"), ngram_size)
    return [int((x if len(x) == 1 else OPS.ngrams(len(x), x))[0]) for x in arrays]


def make_words(texts: list[list[int]]) -> Ragged:
    words = np.array([word for text in texts for word in text], dtype="uint64")
    return Ragged(words, np.array([len(text) for text in texts], dtype="int32"))


def split(ngrams: TextNgrams) -> list[list[int]]:
    ends = ngrams.lengths.cumsum()
    return [keys.tolist() for keys in np.split(ngrams.keys, ends[:-1])][: len(ends)]


@given(texts=make_lists(0, 2**64 - 1), ngram_size=st.integers(1, 9))
def test_ngrams_equal_plain_python(texts, ngram_size):
    words = make_words(texts)
    ngrams = hash_ngrams(words.dataXd, words.lengths, ngram_size)
    assert split(ngrams) == [list_keys(text, ngram_size) for text in texts]
    assert (ngrams.keys.dtype, ngrams.lengths.dtype) == ("uint64", "int32")


def test_snippets_are_consecutive_and_uniform():
    fix_random_seed(0)
    n = 30000
    lengths = np.tile(np.array([5, 0], "int32"), n)
    whole = TextNgrams(np.tile(np.arange(5, dtype="uint64"), n), lengths)
    snippets = split(cut_snippets(whole, 2, 7))
    assert not any(snippets[1::2])
    lengths, counts = np.unique([*map(len, snippets[::2])], return_counts=True)
    assert lengths.tolist() == [2, 3, 4, 5]  # 5, 6 and 7 are whole texts
    np.testing.assert_allclose(counts / n, [1 / 6, 1 / 6, 1 / 6, 1 / 2], atol=0.01)
    pairs = [part for part in snippets if len(part) == 2]
    found, counts = np.unique(pairs, axis=0, return_counts=True)
    assert found.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    np.testing.assert_allclose(counts / counts.sum(), [1 / 4] * 4, atol=0.02)


@pytest.mark.parametrize(
    ("attr", "include_punctuation", "expected"),
    [
        ("LOWER", False, ["the", "film", "b"]),
        ("ORTH", False, ["The", "film", "b"]),
        ("LOWER", True, ["the", "film", ",", "\n", "b"]),
    ],
)
def test_words(nlp, attr, include_punctuation, expected):
    docs = [Doc(nlp.vocab, words=["The", "film", ",", "\n", "b"]), Doc(nlp.vocab)]
    words = extract_words(attr, include_punctuation=include_punctuation).predict(docs)
    assert [nlp.vocab.strings[int(key)] for key in words.dataXd] == expected
    assert words.lengths.tolist() == [len(expected), 0]


# Sums

LAYERS = {
    "standard": lambda: SymbolEmbed(3, key="n-grams"),
    "weighted": lambda: WeightedHashEmbed(3, 7, nK=None, key="n-grams", seed=9),
    "hashed": lambda: HashEmbed(3, 7, num_hashes=1, seed=9),
    "hashed and weighted": lambda: WeightedHashEmbed(3, 7, nK=11, seed=9),
}
KNOWN = np.unique(np.array(list_keys([1, 2, 3], 2), dtype="uint64"))


def build(kind: str, **options) -> Model:
    fix_random_seed(0)
    embed = LAYERS[kind]()
    if "key" in embed.attrs:
        assign_symbols(embed, Symbols(KNOWN))
    model = sum_ngrams(embed, ngram_size=2, **options).initialize()
    randomize(embed)
    return model


@pytest.mark.parametrize("kind", LAYERS)
@given(texts=make_lists(1, 4), is_train=st.booleans())
@settings(max_examples=20)
def test_sums_and_gradients_equal_single_ngrams(kind, is_train, texts):
    model, reference = build(kind), build(kind).layers[0]
    Y, backprop = model(make_words(texts), is_train)
    assert (Y.shape, Y.dtype) == ((len(texts), 3), "float32")
    dY = np.random.default_rng(0).normal(size=Y.shape).astype("f")
    backprop(dY)
    expected = np.zeros((len(texts), 3), dtype="f")
    for i, text in enumerate(texts):
        for key in np.array(list_keys(text, 2), dtype="uint64"):
            if "key" not in reference.attrs or key in KNOWN:
                vector, backprop_key = reference(np.array([key]), is_train)
                expected[i] += vector[0]
                backprop_key(dY[i : i + 1])
    np.testing.assert_allclose(Y, expected, atol=1e-4)
    if gradients := get_gradients(reference):
        assert_gradients_close(get_gradients(model), gradients)


def test_training_uses_snippets_and_prediction_whole_texts():
    model, words = build("standard", shortest=2, longest=5), make_words([[1, 2, 3] * 9])
    model.layers[0].set_param("E", np.ones((6, 3), dtype="f"))
    assert model.predict(words)[0, 0] == 27 + 18  # "3 1" is unknown
    assert {model.begin_update(words)[0][0, 0] for _ in range(50)} == {2, 3, 4, 5}


@pytest.mark.parametrize("kind", ["standard", "weighted"])
def test_damaged_symbols_are_refused_without_known_ngrams(kind):
    model = build(kind)
    model.layers[0].attrs["symbols"] = KNOWN[:0]
    with pytest.raises(ValueError, match="symbols for n-grams"):
        model.predict(make_words([[1, 2]]))
