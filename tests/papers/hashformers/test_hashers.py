"""Hashers: words to codes, by the settings that they were saved with."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from thinc.api import Model

from spacy_hashembeds.papers.hashformers import lsh
from spacy_hashembeds.papers.hashformers.hashers import LSHHasher, MD5Hasher, set_ngrams

WORDS = ["play", "plays", "", "caf\u00e9", "cafe\u0301", "\u212b"]


def make_lsh(**options) -> Model:
    return LSHHasher(**{"max_ngrams": None, **options})


def make_counted(words=WORDS, **options) -> Model:
    model = LSHHasher(**options)
    set_ngrams(model, np.unique(lsh.find_ngrams(words, 4).keys))
    return model


def find_rows(model, n_rows, words) -> np.ndarray:
    model.set_dim("nV", n_rows)
    rows = model.predict(words)
    assert (rows.dtype, rows.shape) == ("uint32", (len(words), 1))
    return rows[:, 0]


@given(
    st.lists(st.text(max_size=20), max_size=8),
    st.none() | st.text(max_size=70),
    st.integers(1, 2**31 - 1),
)
@example(["play", "plays", "\ud83d"], None, 2**31 - 1)
@example(["word"], "k" * 65, 5)  # keys that are longer than a block are hashed first
def test_md5_is_that_of_python(words, key, n_rows):
    """Halves of surrogate pairs count as if they were characters."""
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
    assert find_rows(MD5Hasher(key=key), n_rows, words).tolist() == expected


def test_lsh_is_what_hashing_gives():
    ngrams = lsh.find_ngrams(WORDS, 3)
    model = make_lsh(num_bits=20, ngram_size=3, seed=5)
    np.testing.assert_array_equal(model.predict(WORDS), lsh.find_bits(ngrams, 20, 5))
    expected = lsh.find_rows(ngrams, 9, 5, None)
    np.testing.assert_array_equal(find_rows(model, 9, WORDS), expected)


def test_only_the_ngrams_that_were_counted_count():
    model = make_counted(["play"])
    lay, ylay, laz, *others = model.predict(["lay", "lay~", "laz", "", "zzz"])
    np.testing.assert_array_equal(lay, ylay)
    np.testing.assert_array_equal(lay, make_lsh().predict(["lay"])[0])
    assert (lay != laz).any()
    assert (np.array(others) == 255).all()
    assert (make_counted([]).predict(WORDS) == 255).all()


@pytest.mark.parametrize("make", [MD5Hasher, make_lsh])
def test_forms_make_words_equal(make):
    words = ["caf\u00e9", "cafe\u0301", "ﬁ", "fi"]
    n_codes = {
        form: len(np.unique(make(form=form).predict(words), axis=0))
        for form in (None, "NFC", "NFKD")
    }
    assert n_codes == {None: 4, "NFC": 3, "NFKD": 2}
    # marks in the wrong order, of which so many would take minutes at once
    codes = make(form="NFD").predict(["a" + "\u0301\u0323" * 100_000, "a"])
    assert (codes[0] != codes[1]).any()


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (MD5Hasher, "lsh_seed", 0),
        (make_counted, "lsh_seed", 2**64),
        (make_counted, "md5_key", None),
        (make_counted, "ngrams", np.array([2, 1], "uint64")),
        (make_counted, "ngrams", np.array([1, 2])),
        (LSHHasher, "count_character_ngrams.v1", None),
    ],
)
def test_damaged_attributes_are_refused_and_ngrams_asked_for(make, name, value):
    model = make()
    model.attrs[name] = value
    with pytest.raises(ValueError, match=name):
        model.predict(WORDS)
