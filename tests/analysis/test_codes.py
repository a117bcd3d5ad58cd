from collections import Counter
from collections.abc import Hashable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import HashEmbed as ThincHashEmbed
from thinc.api import NumpyOps

from spacy_hashembeds.analysis.codes import (
    DEGENERATE_SEED,
    count_sharing,
    count_sharing_sums,
    find_known,
    join_codes,
)

from .tables import make_hash_table

KEYS = np.random.default_rng(0).integers(2**63, size=1000, dtype="uint64")
SMALL_CODES = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3))


BITS = st.lists(st.integers(0, 1), min_size=3, max_size=3)


def find_code(keys: np.ndarray, **settings: int) -> np.ndarray:
    return make_hash_table(width=2, **settings).find_code(keys)


def to_codes(rows: list[list[int]]) -> np.ndarray:
    return np.array(rows, dtype="uint64").reshape(-1, 3)


def count_equal(codes: Iterable[Hashable]) -> int:
    return sum(count for count in Counter(codes).values() if count > 1)


def test_codes_are_the_rows_of_thincs_layer():
    layer = ThincHashEmbed(2, 77, seed=9)
    layer.initialize()
    summed = layer.predict(KEYS)
    E = layer.get_param("E")
    code = find_code(KEYS, rows=77, num_hashes=4, seed=9)
    np.testing.assert_allclose(E[code].sum(axis=1), summed, atol=1e-6)


@given(rows=SMALL_CODES)
def test_codes_share_and_sums_in_any_order(rows):
    codes = to_codes(rows)
    assert count_sharing(codes) == count_equal(map(tuple, rows))
    in_order = (tuple(sorted(row)) for row in rows)
    assert count_sharing_sums(codes) == count_equal(in_order)


@given(pairs=st.lists(st.tuples(BITS, BITS), min_size=1))
def test_words_share_where_all_tables_do(pairs):
    codes = [to_codes([pair[i] for pair in pairs]) for i in range(2)]
    expected = count_equal((tuple(a), tuple(b)) for a, b in pairs)
    assert count_sharing(join_codes(codes)) == expected


def test_any_number_of_hashes_is_told_apart():
    codes = np.zeros((4, 200), dtype="uint64")
    codes[1, 0] = codes[2, 70] = codes[3, 199] = 1
    assert count_sharing(codes) == 0
    assert count_sharing(codes[:, 1:]) == 2
    assert count_sharing(join_codes([codes[:, :70], codes[:, 71:]])) == 2


def find_halves(seed: int) -> tuple[np.ndarray, np.ndarray]:
    keys = NumpyOps().hash(KEYS, seed).astype("uint64")
    shift = np.uint64(32)
    return keys[:, 0] | keys[:, 1] << shift, keys[:, 2] | keys[:, 3] << shift


def test_only_one_seed_ties_the_halves_of_the_hash():
    for seed in range(300):
        first, second = find_halves(seed)
        is_tied = np.array_equal(first * np.uint64(3), second * np.uint64(2))
        is_even = not (first % np.uint64(2)).any()
        assert is_tied == is_even == (seed == DEGENERATE_SEED)


@pytest.mark.parametrize(("seed", "pairs"), [(8, (4 * 53, 16 * 53)), (9, (53**2,) * 2)])
def test_the_poor_seed_ties_hashes_1_and_3_and_2_and_4(seed, pairs):
    keys = np.arange(100_000, dtype="uint64")
    code = find_code(keys, rows=53, num_hashes=4, seed=seed)
    assert len(np.unique(code[:, [0, 2]], axis=0)) == pairs[0]
    assert len(np.unique(code[:, [1, 3]], axis=0)) == pairs[1]
    assert len(np.unique(code[:, [0, 1]], axis=0)) == 53**2


@pytest.mark.parametrize("known", [[], [2**63], [2**63, 2**63 + 1], [5, 2**64 - 1]])
def test_values_are_known_however_large(known):
    values = [2**64 - 1, 5, 2**63, 2**63 + 1, 0]
    found = find_known(np.array(values, "uint64"), np.array(known, "uint64"))
    assert found.tolist() == [value in known for value in values]
