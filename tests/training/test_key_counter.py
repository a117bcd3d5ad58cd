"""Incremental counting: exact, or within an error beyond a limit."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.training import key_counter
from spacy_hashembeds.training.key_counter import KeyCounter

PARTS = st.lists(st.lists(st.integers(0, 30)), min_size=1, max_size=8)


@given(parts=PARTS, limit=st.integers(1, 40), n=st.integers(1, 10))
def test_counts_are_within_the_error(parts, limit, n):
    """Counts are exact below the limit."""
    counter, exact = KeyCounter(limit), KeyCounter()
    for part in parts:
        counter.add(np.array(part, dtype="uint64"))
        counter._flush()
        exact.add(np.array(part, dtype="uint64"))
    expected = Counter(key for part in parts for key in part)
    (keys, counts), of_all = counter.get_counts(), exact.get_counts()
    assert dict(zip(*of_all, strict=True)) == expected
    assert keys.dtype == "uint64"
    assert (keys[1:] > keys[:-1]).all()
    assert len(keys) <= limit
    found = dict(zip(keys.tolist(), counts.tolist(), strict=True))
    for key, number in expected.items():
        assert number - counter.error <= found.get(key, 0) <= number
    assert found.keys() <= expected.keys()
    assert counter.error == 0 or len(expected) > limit
    top = exact.get_most_frequent(n)
    assert (top[1:] > top[:-1]).all()
    numbers = sorted((expected[key] for key in top.tolist()), reverse=True)
    assert numbers == sorted(expected.values(), reverse=True)[:n]


@pytest.mark.parametrize("n", [0, 1])
def test_memory_is_bounded_for_short_texts(n, monkeypatch):
    monkeypatch.setattr(key_counter, "_BUFFER_SIZE", 1000)
    counter = KeyCounter()
    for _ in range(1000):
        counter.add(np.zeros(n, dtype="uint64"))
        assert len(counter._buffer) < 50
    assert counter.get_counts()[1].tolist() == [1000] * n


def test_half_of_the_limit_is_kept(monkeypatch):
    monkeypatch.setattr(key_counter, "_BUFFER_SIZE", 1)
    counter = KeyCounter(16)
    keys = np.arange(17, dtype="uint64")
    counter.add(np.repeat(keys, 30 - keys.astype("int64")))
    # the eighth is kept with count 23, the ninth dropped with 22
    counter.add(np.repeat(keys[7:9], 10))
    # counts 30 and 29
    assert counter.get_most_frequent(2).tolist() == [0, 7]
    assert counter.error == 22
