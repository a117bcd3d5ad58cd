"""The cache of codes: correct, and bounded."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers import codecache
from spacy_hashembeds.layers.codecache import CodeCache

from ..kernels.paths import both_paths

SETTINGS = ("a", 1)
KEYS = st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 20), min_size=1, max_size=30)


def encode(keys) -> np.ndarray:
    """Return codes that distinguish keys."""
    return np.stack([keys, keys ^ np.uint64(12345)], axis=1)


class Spy:
    def __init__(self) -> None:
        self.given: list[list[int]] = []

    def __call__(self, keys) -> np.ndarray:
        self.given.append(sorted(keys.tolist()))
        return encode(keys)


def as_keys(values) -> np.ndarray:
    return np.array(list(values), dtype="uint64")


@given(st.lists(KEYS, max_size=8))
@settings(max_examples=30)
@pytest.mark.parametrize("n_bytes", [1, 2**20])
def test_codes_equal_computed_codes(n_bytes, batches):
    cache = CodeCache(n_bytes)
    for batch in batches:
        keys = as_keys(batch)
        np.testing.assert_array_equal(cache.get(keys, SETTINGS, encode), encode(keys))


def test_only_missing_codes_are_computed():
    cache, spy = CodeCache(), Spy()
    cache.get(as_keys([1, 2, 3]), SETTINGS, spy)
    cache.get(as_keys([5, 3, 2**63, 1]), SETTINGS, spy)
    cache.get(as_keys([5, 3, 2**63, 1, 2]), SETTINGS, spy)
    cache.get(as_keys([1]), ("a", 2), spy)
    cache.get(as_keys([1]), ("a",), spy)
    assert spy.given == [[1, 2, 3], [5, 2**63], [1], [1]]


def test_full_set_keeps_some_words():
    cache, spy = CodeCache(), Spy()
    keys = as_keys(i << 40 for i in range(10))
    for _ in range(2):
        np.testing.assert_array_equal(cache.get(keys, SETTINGS, spy), encode(keys))
    assert [len(given) for given in spy.given] == [10, 2]


def make_vectors(kind, keys) -> np.ndarray:
    """Make vectors whose sums distinguish keys and kinds."""
    vectors = np.zeros((len(keys), 4), dtype="f")
    vectors[:, kind] = 1 + keys % np.uint64(1009)
    return vectors


SMALL_KEYS = st.tuples(*[st.integers(0, 40)] * 4)


@given(st.lists(st.lists(SMALL_KEYS, min_size=1, max_size=9), max_size=9))
@settings(max_examples=20)
@pytest.mark.parametrize("n_bytes", [1, 2000])
@both_paths
def test_sums_equal_computed_sums(kernels, n_bytes, batches):
    """Keys may be equal for several kinds, or as small as indices of sets."""
    cache = CodeCache(n_bytes, n_kinds=4)
    for keys in (np.array(batch, dtype="uint64") for batch in batches):
        with compiled.using(kernels):
            found = [cache.sum(keys, make_vectors) for _ in range(2)]
        np.testing.assert_array_equal(found, [sum_vectors(keys)] * 2)


def test_sum_computes_only_missing_codes():
    cache, given_keys = CodeCache(n_kinds=2), []

    def spy(kind, keys) -> np.ndarray:
        given_keys.append((kind, sorted(keys.tolist())))
        return make_vectors(kind, keys)

    for batch in ([(1, 2), (1, 1)], [(1, 1)], [(2, 2), (2, 2)], [(2, 1), (1, 2)]):
        cache.sum(np.array(batch, dtype="uint64"), spy)
    assert given_keys == [(0, [1]), (1, [1, 2]), (0, [2])]


def test_duplicate_key_does_not_hide_a_missing_one():
    """Two threads may store the same key twice, which gives two hits."""
    cache = CodeCache(n_kinds=1)
    twice = as_keys([7])
    cache.sum(twice[:, None], make_vectors)
    codecache._store(cache._table, twice, cache._kinds[0], make_vectors(0, twice))
    keys = as_keys([7, 8])[:, None]
    expected = make_vectors(0, keys[:, 0])
    np.testing.assert_array_equal(cache.sum(keys, make_vectors), expected)


def sum_vectors(keys) -> np.ndarray:
    return sum(make_vectors(kind, keys[:, kind]) for kind in range(4))


def are_sums_right(cache, state) -> bool:
    keys = state.integers(90, size=(20, 4), dtype="uint64")
    return np.array_equal(cache.sum(keys, make_vectors), sum_vectors(keys))


def are_codes_right(cache, state) -> bool:
    # few sets, for concurrent writes
    keys = np.unique(state.integers(200, size=50, dtype="uint64")) << np.uint64(14)
    return np.array_equal(cache.get(keys, SETTINGS, encode), encode(keys))


@pytest.mark.parametrize(
    ("are_right", "n_bytes"), [(are_sums_right, 4000), (are_codes_right, 2**20)]
)
def test_threads(are_right, n_bytes):
    cache = CodeCache(n_bytes, n_kinds=4)

    def work(seed) -> bool:
        state = np.random.default_rng(seed)
        return all(are_right(cache, state) for _ in range(150))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_memory_is_bounded():
    cache = CodeCache()
    state = np.random.default_rng(0)
    for _ in range(20):
        keys = state.integers(2**64, size=10_000, dtype="uint64")
        cache.get(keys, SETTINGS, lambda keys: keys[:, None].repeat(9, axis=1))
    table = cache._table
    assert table.codes.nbytes <= codecache.MAX_BYTES
    assert table.keys.nbytes + table.n_written.nbytes < codecache.MAX_BYTES


def test_copies_are_empty_and_of_the_same_size():
    cache, spy = CodeCache(200, n_kinds=2), Spy()
    cache.get(as_keys([1]), SETTINGS, encode)
    for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        other.get(as_keys([1]), SETTINGS, spy)
        assert other._table.keys.shape == cache._table.keys.shape
        floats = other.sum(as_keys([[1, 2]]), lambda _, keys: encode(keys).astype("f"))
        assert floats.any()
    assert spy.given == [[1], [1]]
