"""Rows of character n-grams, as floret finds them."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.vectors import Vectors

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers.subwords import (
    MAX_CHARACTERS,
    SEED,
    Ngrams,
    hash_text,
    shorten,
)

from ..kernels.paths import KERNELS, both_paths, needs_kernels

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
ODD = ["", "a", "東京", "👍🏽", "cafe\u0301", "x" * 1000, "\0", "n't"]


def make_floret(ngrams: Ngrams) -> Vectors:
    """spaCy's own table of n-grams."""
    return Vectors(
        mode="floret",
        data=np.zeros((ngrams.rows, 1), dtype="f"),
        minn=ngrams.minn,
        maxn=ngrams.maxn,
        hash_count=ngrams.num_hashes,
        hash_seed=SEED,
        bow="<",
        eow=">",
    )


@needs_kernels
@given(
    words=WORDS,
    minn=st.integers(1, 4),
    more=st.integers(0, 3),
    num_hashes=st.integers(1, 4),
    rows=st.sampled_from([1, 7, 5000, 2**31]),
)
def test_kernels_find_the_rows_of_the_reference(words, minn, more, num_hashes, rows):
    ngrams = Ngrams(minn, minn + more, num_hashes, rows)
    with compiled.using(KERNELS):
        found, lengths = ngrams.find_rows([*words, *ODD])
    with compiled.using(None):
        expected, expected_lengths = ngrams.find_rows([*words, *ODD])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(lengths, expected_lengths)
    assert (found.dtype, lengths.dtype) == ("uint32", "int64")
    assert (lengths > 0).all()


@both_paths
@pytest.mark.parametrize("num_hashes", [1, 2, 4])
def test_rows_are_those_of_spacys_floret_vectors(kernels, num_hashes):
    ngrams = Ngrams(3, 5, num_hashes, 997)
    floret = make_floret(ngrams)
    words = ["Schifffahrt", "a", "ab", "東京都庁", "naïve", "don't", "x" * 100]
    with compiled.using(kernels):
        for word in words:
            expected = [
                row % ngrams.rows
                for ngram in floret._get_ngrams(word)
                for row in floret._get_ngram_hashes(ngram)[:num_hashes]
            ]
            rows, lengths = ngrams.find_rows([word])
            assert rows.tolist() == expected
            assert lengths.tolist() == [len(expected)]


def test_ngrams_of_each_length_stand_in_the_order_of_the_word():
    ngrams = Ngrams(2, 3, 1, 10)
    assert list(ngrams.cut("dog")) == [
        *("<dog>", "<d", "do", "og", "g>", "<do", "dog", "og>")
    ]
    assert list(ngrams.cut("")) == ["<>", "<>"]
    assert list(ngrams.cut("a")) == ["<a>", "<a", "a>", "<a>"]


def test_composed_and_decomposed_characters_are_the_same():
    word = "Übermäßig"
    decomposed = unicodedata.normalize("NFD", word)
    assert decomposed != word
    ngrams = Ngrams(3, 5, 1, 5000)
    rows = [ngrams.find_rows([each])[0].tolist() for each in (word, decomposed)]
    assert rows[0] == rows[1]


def test_compatible_characters_are_not_the_same():
    """NFC composes, and replaces no ligature and no superscript."""
    ngrams = Ngrams(3, 5, 1, 2**31)
    for word, plain in [("ﬁn", "fin"), ("m²", "m2")]:
        assert unicodedata.normalize("NFKC", word) == plain
        rows = [ngrams.find_rows([each])[0].tolist() for each in (word, plain)]
        assert not {*rows[0]} & {*rows[1]}


def test_of_long_words_the_ends_count():
    """As documented: of words of more than 128 characters the first and last 64."""
    word = "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    assert shorten(word[:128]) == word[:128]
    for length in (129, 1000):
        assert shorten(word[:length]) == word[:64] + word[length - 64 : length]
    rows, lengths = Ngrams(3, 5, 1, 5000).find_rows(["x" * 2**20])
    assert len(rows) == lengths[0] < 4 * MAX_CHARACTERS


def test_hashes_are_those_of_the_algorithms_author():
    """MurmurHash3_x64_128 of lengths around its blocks of 16 bytes, by spaCy."""
    floret = make_floret(Ngrams(1, 1, 4, 1))
    for n in range(40):
        text = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"[:n]
        assert list(hash_text(text)) == list(floret._get_ngram_hashes(text))
