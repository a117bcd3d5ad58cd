"""MD5 bits of words, beside Python's own MD5 and HMAC."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_hashembeds.hashing.md5 import find_rows, hash_words

WORDS = st.lists(st.text(max_size=20), max_size=8)
KEYS = st.binary(min_size=1, max_size=200)


def test_the_papers_examples_are_those_of_other_words():
    """§3.2 prints the digests of "cat" and "mat" for "play" and "plays"."""
    digests = [row.tobytes().hex() for row in hash_words(["play", "plays", "cat"])]
    assert digests[0] == "a3b34c0871dc2fd51eec5559b68f709d"
    assert digests[1].startswith("ed401819")
    assert digests[2] == "d077f244def8a70e5ea758bd8352fcd8"


@given(WORDS)
def test_digests_are_pythons(words):
    expected = [hashlib.md5(word.encode()).digest() for word in words]
    digests = hash_words(words)
    assert (digests.shape, digests.dtype) == ((len(words), 16), "uint8")
    assert digests.tobytes() == b"".join(expected)


@given(WORDS, KEYS)
@example(["word"], bytes(63))  # keys that are longer than a block are hashed first
@example(["word"], bytes(64))
@example(["word"], bytes(65))
def test_with_a_key_they_are_hmacs(words, key):
    expected = [hmac.digest(key, word.encode(), "md5") for word in words]
    assert hash_words(words, key).tobytes() == b"".join(expected)


def test_halves_of_surrogate_pairs_are_hashed_too():
    assert len({row.tobytes() for row in hash_words(["\ud800", "\udc00", ""])}) == 3


def test_it_works_where_md5_is_switched_off(monkeypatch):
    """As on machines in FIPS mode, where it is there for other uses than security."""
    new = hashlib.md5

    def refuse(message=b"", *, usedforsecurity=True):
        if usedforsecurity:
            raise ValueError("disabled for FIPS")
        return new(message, usedforsecurity=False)

    monkeypatch.setattr(hashlib, "md5", refuse)
    assert hash_words(["a"], b"key" * 99).shape == (1, 16)


@given(WORDS, st.integers(1, 2**31))
def test_rows_are_the_digest_modulo_their_number(words, n_rows):
    digests = [hashlib.md5(word.encode()).digest() for word in words]
    expected = [int.from_bytes(digest, "big") % n_rows for digest in digests]
    rows = find_rows(hash_words(words), n_rows)
    assert rows.dtype == "uint32"
    assert rows.tolist() == expected


@pytest.mark.parametrize("n_rows", [1, 2**31])
def test_the_largest_digest_has_a_row(n_rows):
    largest = np.full((1, 16), 255, dtype="uint8")
    assert find_rows(largest, n_rows).tolist() == [(2**128 - 1) % n_rows]
