"""Hashers, compared with their definitions and with saved codes."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thinc.api import Model

from spacy_hashembeds.papers.hashformers import lsh
from spacy_hashembeds.papers.hashformers.hashers import LSHHasher, MD5Hasher, set_ngrams
from spacy_hashembeds.papers.hashformers.lsh import (
    OPEN_CIRCLE,
    find_bits,
    find_ngrams,
    find_rows,
    make_planes,
)
from spacy_hashembeds.papers.hashformers.lsh import _make_circle as make_circle

from .definitions import list_ngrams

few_examples = settings(max_examples=30)
TEXTS = st.lists(st.text("abC.中", max_size=7) | st.text(max_size=5), max_size=6)
PLAY = ["play", "plays", "played", "zebra"]
WORDS = [*PLAY, "", "Zürich", "naïve", "日本語", "x" * 300, "\ud83d", "👍🏽"]


def make_lsh(**options) -> Model:
    return LSHHasher(**{"max_ngrams": None, **options})


def predict_rows(model, n_rows, words) -> list[int]:
    model.set_dim("nV", n_rows)
    rows = model.predict(words)
    assert (rows.dtype, rows.shape) == ("uint32", (len(words), 1))
    return rows[:, 0].tolist()


def get_keys(word) -> list[int]:
    """List the keys of a word's n-grams, each hashed as a word."""
    parts = list_ngrams(word, 4)
    return [int(find_ngrams([part], len(part)).keys[len(part) - 1]) for part in parts]


# LSH


@few_examples
@given(TEXTS, st.integers(1, 40), st.integers(0, 2**64 - 1), st.booleans())
def test_lsh_equals_its_definition(words, n, seed, is_counted):
    ngrams = find_ngrams(words, 4)
    model = LSHHasher(num_bits=n, seed=seed, max_ngrams=9 if is_counted else None)
    counted = np.unique(find_ngrams(words[::2], 4).keys)
    if is_counted:
        set_ngrams(model, counted)
    bits = np.unpackbits(model.predict(words), axis=1, count=n)
    rows = predict_rows(model, n, words)
    circle = make_circle(max(n, len(counted) if is_counted else OPEN_CIRCLE), seed)
    turned = np.array([np.roll(circle.astype("int64"), -i) for i in range(n)])
    parts = np.split(ngrams.keys, ngrams.lengths.cumsum())
    for word, found, bits_of_word, row in zip(words, parts, bits, rows, strict=False):
        keys = np.array(get_keys(word), dtype="uint64")
        np.testing.assert_array_equal(np.sort(found), np.sort(keys))
        keys = keys[np.isin(keys, counted)] if is_counted else keys
        planes = make_planes(keys, n, seed).astype("int64")
        np.testing.assert_array_equal(bits_of_word, planes.sum(axis=0) >= 0)
        places = np.searchsorted(counted, keys) if is_counted else keys % OPEN_CIRCLE
        assert row == np.argmax(turned[:, places.astype(int)].sum(axis=1))


def digest(array) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def test_codes_are_equal_in_all_versions():
    """Saved pipelines depend on them."""
    ngrams = find_ngrams(WORDS, 4)
    assert digest(ngrams.keys) == "3d963422e04c3b67"
    bits = find_bits(ngrams, 128, 0)
    assert bits[0].tobytes().hex() == "41439dc5bc6ae9a5fa402aba74322fe0"
    assert digest(bits) == "416d2b04fd342ef6"
    assert digest(find_bits(ngrams, 420, 7)) == "c010bac8972b38d1"
    rows = [447, 688, 789, 81, 0, 625, 200, 301, 289, 400, 653]
    assert find_rows(ngrams, 1000, 0, None).tolist() == rows
    counted = np.unique(find_ngrams(WORDS[:6], 4).keys)
    among = ngrams.select(np.isin(ngrams.keys, counted))
    rows = [742, 742, 719, 449, 0, 152, 861, 0, 0, 0, 0]
    assert find_rows(among, 1000, 3, counted).tolist() == rows


@pytest.mark.parametrize("block", [1, 100])
def test_block_sizes_do_not_change_results(monkeypatch, block):
    ngrams = find_ngrams(["", "a" * 50, *PLAY, "", "b"], 4)
    expected = find_bits(ngrams, 20, 0), find_rows(ngrams, 50, 0, None)
    monkeypatch.setattr(lsh, "_BLOCK", block)
    np.testing.assert_array_equal(find_bits(ngrams, 20, 0), expected[0])
    np.testing.assert_array_equal(find_rows(ngrams, 50, 0, None), expected[1])


def test_the_ngrams_of_a_word_are_bounded():
    """Without a limit, there would be 95,050 n-grams, in gigabytes of memory."""
    word = "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    assert len(find_ngrams([word], 100).keys) < lsh.MAX_NGRAMS


# MD5, and Unicode forms


@given(
    st.lists(st.text(max_size=20), max_size=8),
    st.none() | st.text(max_size=70),
    st.integers(1, 2**31 - 1),
)
@example(["play", "plays", "\ud83d"], None, 2**31 - 1)
@example(["word"], "k" * 65, 5)  # a key longer than a block
def test_md5_equals_hashlib(words, key, n_rows):
    """Lone surrogates are encoded like characters."""
    digests = [
        hashlib.md5(data).digest()
        if key is None
        else hmac.digest(key.encode(), data, "md5")
        for data in (word.encode("utf8", "surrogatepass") for word in words)
    ]
    bits = MD5Hasher(key=key).predict(words)
    assert (bits.shape, bits.dtype) == ((len(words), 16), "uint8")
    assert bits.tobytes() == b"".join(digests)
    expected = [int.from_bytes(digest, "big") % n_rows for digest in digests]
    assert predict_rows(MD5Hasher(key=key), n_rows, words) == expected


@pytest.mark.parametrize("make", [MD5Hasher, make_lsh])
def test_forms_normalize_words(make):
    words = ["caf\u00e9", "cafe\u0301", "ﬁ", "fi"]
    n_codes = {
        form: len(np.unique(make(form=form).predict(words), axis=0))
        for form in (None, "NFC", "NFKD")
    }
    assert n_codes == {None: 4, "NFC": 3, "NFKD": 2}
    # unsorted marks, which would take minutes without blocks
    codes = make(form="NFD").predict(["a" + "\u0301\u0323" * 100_000, "a"])
    assert (codes[0] != codes[1]).any()
