"""LSH bits and rows: beside their definitions, and the same for ever."""

import hashlib
import tracemalloc
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_hashembeds.hashing import lsh
from spacy_hashembeds.hashing.lsh import (
    MAX_NGRAMS,
    OPEN_CIRCLE,
    find_bits,
    find_in_order,
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


def bits_of(words, num_bits=128, seed=0, ngram_size=4) -> np.ndarray:
    packed = find_bits(find_ngrams(words, ngram_size), num_bits, seed)
    return np.unpackbits(packed, axis=1, count=num_bits)


# N-grams


@few_examples
@given(WORDS, st.integers(1, 6))
def test_ngrams_are_all_short_sequences_of_a_word(words, ngram_size):
    found = find_ngrams(words, ngram_size)
    starts = found.lengths.cumsum() - found.lengths
    for word, start, length in zip(words, starts, found.lengths, strict=True):
        expected = list_ngrams(word, ngram_size)
        keys = found.keys[start : start + length].tolist()
        assert Counter(keys) == dict(
            zip(get_keys(expected), expected.values(), strict=True)
        )


@few_examples
@given(st.sets(st.text("ab中é\ud800", min_size=1, max_size=4), max_size=50))
def test_different_ngrams_have_different_keys(ngrams):
    assert len(set(get_keys(ngrams))) == len(ngrams)


@pytest.mark.parametrize(("ngram_size", "n_chars"), [(4, 1000), (1, 4000), (100, 40)])
def test_only_so_many_characters_of_a_word_count(ngram_size, n_chars):
    long = "ab" * MAX_NGRAMS
    found = find_ngrams([long, "c"], ngram_size)
    cut = find_ngrams([long[:n_chars], "c"], ngram_size)
    np.testing.assert_array_equal(found.keys, cut.keys)
    np.testing.assert_array_equal(found.lengths, cut.lengths)
    assert len(find_ngrams([long[: n_chars - 1]], ngram_size).keys) < cut.lengths[0]


def test_no_sum_is_rounded():
    """Of as many components as a word can have, the largest there are."""
    planes, circle = make_planes(np.arange(50_000, dtype="uint64"), 8, 0), NormalDist()
    assert abs(planes).max() * MAX_NGRAMS < 2**24
    assert circle.inv_cdf(1 - 2**-33) * 2**16 * MAX_NGRAMS < 2**31


@pytest.mark.parametrize("n", [0, 1, 900, 3000])
def test_keys_are_found_among_some_in_order(n):
    state = np.random.default_rng(0)
    counted = np.unique(state.integers(2**64, size=500, dtype="uint64"))
    # some are among them, and some are there more than once
    others = np.array([0, 2**64 - 1], dtype="uint64")
    keys = state.choice(np.concatenate([counted[::2], others]), n)
    places = find_in_order(counted, keys)
    np.testing.assert_array_equal(places, np.searchsorted(counted, keys))


# Bits


@few_examples
@given(WORDS, st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_bits_say_on_which_side_of_a_plane_a_word_is(words, num_bits, seed):
    bits = bits_of(words, num_bits, seed)
    for word, bits_of_word in zip(words, bits, strict=True):
        counts = list_ngrams(word, 4)
        keys = np.array(get_keys(counts), dtype="uint64")
        planes = make_planes(keys, num_bits, seed).astype("int64")
        x = np.array(list(counts.values()), dtype="int64")
        np.testing.assert_array_equal(bits_of_word, x @ planes >= 0)


@pytest.mark.parametrize("block", [1, 100, 10**9])
def test_blocks_make_no_difference(monkeypatch, block):
    words = ["", "a" * 50, *PLAY, "", "b"]
    expected = bits_of(words), find_rows(find_ngrams(words, 4), 50, 0, None)
    monkeypatch.setattr(lsh, "_BLOCK", block)
    np.testing.assert_array_equal(bits_of(words), expected[0])
    rows = find_rows(find_ngrams(words, 4), 50, 0, None)
    np.testing.assert_array_equal(rows, expected[1])


def test_the_ngrams_of_one_word_take_bounded_memory():
    """But for the cut there would be 95,050, and their components gigabytes."""
    word = "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    ngrams = find_ngrams([word], 100)
    tracemalloc.start()
    try:
        bits = find_bits(ngrams, 4096, 0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**28
    assert 0.3 < np.unpackbits(bits).mean() < 0.7


def test_bits_that_differ_measure_the_angle():
    """Of two words at an angle φ, φ/π of the bits differ (Goemans and Williamson)."""
    counts = [list_ngrams(word, 4) for word in PLAY]
    ngrams = sorted(set().union(*counts))
    X = np.array([[count[ngram] for ngram in ngrams] for count in counts])
    lengths = np.linalg.norm(X, axis=1)
    angles = np.arccos(np.clip((X @ X.T) / np.outer(lengths, lengths), -1, 1))
    bits = np.hstack([bits_of(PLAY, 4096, seed) for seed in range(8)])
    measured = (bits[:, np.newaxis] != bits).mean(axis=2)
    np.testing.assert_allclose(measured, angles / np.pi, atol=0.015)


# Rows


@few_examples
@given(WORDS, st.integers(1, 30), st.integers(0, 9), st.booleans())
def test_rows_are_the_nearest_rotation(words, n_rows, seed, is_counted):
    ngrams = find_ngrams(words, 4)
    counted = np.unique(ngrams.keys) if is_counted else None
    rows = find_rows(ngrams, n_rows, seed, counted)
    size = max(n_rows, len(counted)) if is_counted else OPEN_CIRCLE
    circle = lsh._make_circle(size, seed).astype("int64")
    for word, row in zip(words, rows, strict=True):
        keys = np.array(get_keys(list_ngrams(word, 4).elements()), dtype="uint64")
        places = np.searchsorted(counted, keys) if is_counted else keys % OPEN_CIRCLE
        turned = [np.roll(circle, -i) for i in range(n_rows)]
        nearest = np.argmax([vector[places.astype(int)].sum() for vector in turned])
        assert row == nearest


def test_a_long_word_takes_no_more_memory_than_many_short_ones():
    """Gathered at once, its rows would take a gigabyte."""
    ngrams = find_ngrams(["".join(map(chr, range(1000, 2000)))], 4)
    find_rows(ngrams, 2**16, 0, None)
    tracemalloc.start()
    find_rows(ngrams, 2**16, 0, None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**25


# For ever


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
