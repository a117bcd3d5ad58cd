"""LSH bits and rows: beside their definitions, and the same for ever."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_hashembeds.papers.hashformers import lsh
from spacy_hashembeds.papers.hashformers.lsh import (
    OPEN_CIRCLE,
    find_bits,
    find_ngrams,
    find_rows,
    make_planes,
)

few_examples = settings(max_examples=30)
WORDS = st.lists(st.text("abC.中", max_size=7) | st.text(max_size=5), max_size=6)
PLAY = ["play", "plays", "played", "zebra"]


def list_ngrams(word, ngram_size) -> Counter[str]:
    return Counter(
        word[start : start + size]
        for size in range(1, ngram_size + 1)
        for start in range(len(word) - size + 1)
    )


def get_keys(ngrams) -> list[int]:
    """The key of each n-gram: what is found last in the word that it is."""
    return [
        int(find_ngrams([ngram], len(ngram)).keys[len(ngram) - 1]) for ngram in ngrams
    ]


@few_examples
@given(WORDS, st.integers(1, 6))
def test_ngrams_are_all_short_sequences_of_a_word(words, ngram_size):
    found = find_ngrams(words, ngram_size)
    parts = np.split(found.keys, found.lengths.cumsum())
    for word, keys in zip(words, parts, strict=False):
        expected = get_keys(list_ngrams(word, ngram_size).elements())
        assert sorted(keys.tolist()) == sorted(expected)


@few_examples
@given(WORDS, st.integers(1, 40), st.integers(0, 2**64 - 1), st.booleans())
def test_bits_are_sides_of_planes_and_rows_the_nearest_rotation(
    words, n, seed, is_counted
):
    ngrams = find_ngrams(words, 4)
    counted = np.unique(ngrams.keys) if is_counted else None
    bits = np.unpackbits(find_bits(ngrams, n, seed), axis=1, count=n)
    rows = find_rows(ngrams, n, seed, counted)
    size = max(n, len(counted)) if is_counted else OPEN_CIRCLE
    circle = lsh._make_circle(size, seed).astype("int64")
    turned = np.array([np.roll(circle, -i) for i in range(n)])
    for word, bits_of_word, row in zip(words, bits, rows, strict=True):
        keys = np.array(get_keys(list_ngrams(word, 4).elements()), dtype="uint64")
        planes = make_planes(keys, n, seed).astype("int64")
        np.testing.assert_array_equal(bits_of_word, planes.sum(axis=0) >= 0)
        places = np.searchsorted(counted, keys) if is_counted else keys % OPEN_CIRCLE
        assert row == np.argmax(turned[:, places.astype(int)].sum(axis=1))


def digest(array) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def test_nothing_changes_from_version_to_version():
    """Else no saved pipeline would work any more."""
    words = [*PLAY, "", "Zürich", "naïve", "日本語", "x" * 300, "\ud83d", "👍🏽"]
    ngrams = find_ngrams(words, 4)
    assert digest(ngrams.keys) == "3d963422e04c3b67"
    bits = find_bits(ngrams, 128, 0)
    assert bits[0].tobytes().hex() == "41439dc5bc6ae9a5fa402aba74322fe0"
    assert digest(bits) == "416d2b04fd342ef6"
    assert digest(find_bits(ngrams, 420, 7)) == "c010bac8972b38d1"
    rows = [447, 688, 789, 81, 0, 625, 200, 301, 289, 400, 653]
    assert find_rows(ngrams, 1000, 0, None).tolist() == rows
    counted = np.unique(find_ngrams(words[:6], 4).keys)
    among = ngrams.select(np.isin(ngrams.keys, counted))
    rows = [742, 742, 719, 449, 0, 152, 861, 0, 0, 0, 0]
    assert find_rows(among, 1000, 3, counted).tolist() == rows


@pytest.mark.parametrize("block", [1, 100])
def test_blocks_make_no_difference(monkeypatch, block):
    ngrams = find_ngrams(["", "a" * 50, *PLAY, "", "b"], 4)
    expected = find_bits(ngrams, 20, 0), find_rows(ngrams, 50, 0, None)
    monkeypatch.setattr(lsh, "_BLOCK", block)
    np.testing.assert_array_equal(find_bits(ngrams, 20, 0), expected[0])
    np.testing.assert_array_equal(find_rows(ngrams, 50, 0, None), expected[1])


def test_the_ngrams_of_one_word_are_bounded():
    """But for the cut there would be 95,050, and their components gigabytes."""
    word = "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    assert len(find_ngrams([word], 100).keys) < lsh.MAX_NGRAMS
