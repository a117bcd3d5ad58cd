"""How many rows hashing reaches without a gap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.hashing import reached
from spacy_hashembeds.hashing.reached import count_reached_rows


def count_plainly(hashes, most):
    return max(r for r in range(1, most + 1) if len({h % r for h in hashes}) == r)


@given(
    hashes=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40),
    most=st.integers(1, 50),
)
def test_it_is_the_largest_number(hashes, most):
    found = count_reached_rows(np.array(hashes, dtype="uint32"), most)
    assert found == count_plainly(hashes, most)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_largest_number_for_many(seed):
    hashes = np.random.default_rng(seed).integers(2**32, size=(300, 2), dtype="uint32")
    expected = count_plainly(hashes.ravel().tolist(), 400)
    assert 90 < expected < 200
    assert count_reached_rows(hashes, 400) == expected


@pytest.fixture
def tried(monkeypatch) -> list[int]:
    """The tables that are tried, by how many hashes are put into each."""
    sizes: list[int] = []
    are_reached = reached._are_reached

    def count(hashes, rows):
        sizes.append(len(hashes))
        return are_reached(hashes, rows)

    monkeypatch.setattr(reached, "_are_reached", count)
    return sizes


def test_millions_take_little_work_and_reach_all_rows(tried):
    """Half a million rare symbols, each with four hashes."""
    hashes = np.random.default_rng(5).integers(2**32, size=(500_000, 4), dtype="uint32")
    found = count_reached_rows(hashes, 10**6)
    # one after the other from where chance reaches all would be a hundred times this
    assert sum(tried) < 1e9
    assert np.bincount(hashes.ravel() % np.uint32(found)).all()
    assert 180_000 < found < 200_000


def test_hashes_that_are_equal_count_once(tried):
    hashes = np.repeat(np.arange(7, dtype="uint32"), 100_000)
    assert count_reached_rows(hashes, 10**6) == 7
    assert tried == [7]
