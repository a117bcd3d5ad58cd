"""Hashers: words to codes, by the settings that they were saved with."""

import unicodedata

import numpy as np
import pytest
from thinc.api import Model

from spacy_hashembeds.hashing import lsh, md5
from spacy_hashembeds.layers.hashers import (
    LSHHasher,
    MD5Hasher,
    get_settings,
    set_ngrams,
)

WORDS = ["play", "plays", "", "caf\u00e9", "cafe\u0301", "\u212b"]


def make_lsh(**options) -> Model:
    return LSHHasher(**{"max_ngrams": None, **options})


def make_counted(words=WORDS, **options) -> Model:
    model = LSHHasher(**options)
    set_ngrams(model, np.unique(lsh.find_ngrams(words, 4).keys))
    return model


def with_rows(model, rows) -> Model:
    model.set_dim("nV", rows)
    return model


def test_md5_is_what_hashing_gives():
    np.testing.assert_array_equal(MD5Hasher().predict(WORDS), md5.hash_words(WORDS))
    keyed = MD5Hasher(key="ключ").predict(WORDS)
    np.testing.assert_array_equal(keyed, md5.hash_words(WORDS, "ключ".encode()))
    rows = with_rows(MD5Hasher(), 7).predict(WORDS)
    np.testing.assert_array_equal(rows[:, 0], md5.find_rows(md5.hash_words(WORDS), 7))


def test_lsh_is_what_hashing_gives():
    ngrams = lsh.find_ngrams(WORDS, 3)
    model = make_lsh(num_bits=20, ngram_size=3, seed=5)
    np.testing.assert_array_equal(model.predict(WORDS), lsh.find_bits(ngrams, 20, 5))
    rows = with_rows(model, 9).predict(WORDS)
    np.testing.assert_array_equal(rows[:, 0], lsh.find_rows(ngrams, 9, 5, None))


def test_only_the_ngrams_that_were_counted_count():
    model = make_counted(["play"])
    lay, ylay, laz = model.predict(["lay", "lay~", "laz"])
    np.testing.assert_array_equal(lay, ylay)
    assert (lay != laz).any()
    everything_else = model.predict(["", "zzz", "12"])
    assert (everything_else == 255).all()


@pytest.mark.parametrize("word", WORDS)
def test_all_ngrams_that_were_counted_count(word):
    counted, other = make_counted([word, "zebra"]), make_lsh()
    np.testing.assert_array_equal(counted.predict([word]), other.predict([word]))


def test_ngrams_that_were_set_can_not_be_changed_any_more():
    model, ngrams = LSHHasher(), np.array([1, 2, 3], dtype="uint64")
    set_ngrams(model, ngrams)
    ngrams[:] = 0
    assert model.attrs["ngrams"].tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        model.attrs["ngrams"][0] = 0


def test_no_ngram_may_have_been_counted():
    model = make_counted([])
    assert (model.predict(WORDS) == 255).all()
    assert (with_rows(model, 3).predict(WORDS) == 0).all()


@pytest.mark.parametrize("make", [MD5Hasher, make_lsh])
def test_forms_are_for_hashing_alone(make):
    composed, decomposed, angstrom = WORDS[3:]
    raw = make().predict([composed, decomposed])
    assert (raw[0] != raw[1]).any()
    nfc, nfkd = make(form="NFC"), make(form="NFKD")
    once = nfc.predict([composed, decomposed, angstrom, "\u00c5", "ﬁ", "fi"])
    for i, j in ((0, 1), (2, 3)):
        np.testing.assert_array_equal(once[i], once[j])
    assert (once[4] != once[5]).any()
    ligature, letters = nfkd.predict(["ﬁ", "fi"])
    np.testing.assert_array_equal(ligature, letters)


@pytest.mark.parametrize("make", [MD5Hasher, make_lsh])
def test_long_words_are_brought_into_a_form_in_parts(make):
    """Marks in the wrong order, of which so many would take minutes at once."""
    word = "e\u0301" * 500 + "a" + "\u0301\u0323" * 100_000
    parts = (word[i : i + 1000] for i in range(0, len(word), 1000))
    plain = "".join(unicodedata.normalize("NFD", part) for part in parts)
    codes = make(form="NFD").predict([word, word[:1000], word[:1001]])
    expected = make().predict([plain, word[:1000], word[:1001]])
    np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize("make", [MD5Hasher, make_counted])
def test_settings_change_with_all_that_codes_depend_on(make):
    model = make()
    before = get_settings(model)
    for name in [n for n in model.attrs if n != "ngram_taker"]:
        old = model.attrs[name]
        model.attrs[name] = object()
        assert any(x is not y for x, y in zip(get_settings(model), before, strict=True))
        model.attrs[name] = old
    with_rows(model, 7)
    assert any(x is not y for x, y in zip(get_settings(model), before, strict=True))


# What is damaged


@pytest.mark.parametrize(
    ("make", "name", "value", "error"),
    [
        (MD5Hasher, "md5_key", "", "of layer 'md5hasher' should be text of 1 to 1000"),
        (MD5Hasher, "md5_key", "\ud800", "'md5_key' .* should be text"),
        (MD5Hasher, "lsh_seed", 0, "that hashes by MD5 can't load .* 'lsh_seed'"),
        (make_counted, "lsh_seed", 2**64, rf"'lsh_seed' .* be 0 to {2**64 - 1}, but"),
        (make_counted, "ngram_size", 10**9, "'ngram_size' .* should be 1 to 100"),
        (make_counted, "md5_key", None, "that hashes by LSH can't load .* 'md5_key'"),
        (make_counted, "ngrams", np.array([2, 1], "uint64"), "of LSHHasher .* damaged"),
        (make_counted, "ngrams", np.array([1, 2]), "n-grams of LSHHasher .* damaged"),
        (make_counted, "ngrams", [1, 2], "n-grams of LSHHasher .* damaged"),
    ],
)
def test_damaged_attributes_are_refused(make, name, value, error):
    model = make()
    model.predict(WORDS)
    model.attrs[name] = value
    with pytest.raises(ValueError, match=error):
        model.predict(WORDS)


def test_ngrams_that_were_not_counted_are_asked_for():
    match = r"no n-grams yet.*count_character_ngrams.*max_ngrams = null"
    with pytest.raises(ValueError, match=match):
        LSHHasher().predict(WORDS)


def test_weights_of_the_other_kind_are_refused():
    open_, counted = make_lsh(), make_counted()
    with pytest.raises(ValueError, match=r"takes any n-gram can't load .* 'ngrams'"):
        make_lsh().from_bytes(counted.to_bytes()).predict(WORDS)
    for other in (counted, make_lsh(max_ngrams=9)):  # counted already, or not yet
        with pytest.raises(ValueError, match=r"counts n-grams can't .* 'any_ngram'"):
            other.from_bytes(open_.to_bytes()).predict(WORDS)
    with pytest.raises(ValueError, match="'md5_key'"):
        make_lsh().from_bytes(MD5Hasher().to_bytes()).predict(WORDS)
