from collections import Counter
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_hashembeds.hashing.collisions import (
    code_collision_probability,
    expected_colliding,
    expected_rows_reached,
    min_rows,
)


@pytest.mark.parametrize(
    ("values", "rows", "num_hashes"),
    [(0, 1, 4), (0, 10, 1), (1, 1, 1), (1, 4, 3), (2, 5, 2), (3, 2, 3), (5, 4, 1)],
)
def test_rows_reached_equal_enumeration(values, rows, num_hashes):
    outcomes = [len(set(c)) for c in product(range(rows), repeat=values * num_hashes)]
    found = expected_rows_reached(values, rows, num_hashes)
    assert found == pytest.approx(sum(outcomes) / len(outcomes))


@example(rows=1, num_hashes=4, values=30)
@example(rows=5, num_hashes=1, values=0)
@example(rows=5, num_hashes=4, values=1)
@given(rows=st.integers(1, 5), num_hashes=st.integers(1, 4), values=st.integers(0, 30))
def test_probability_equals_enumeration(rows, num_hashes, values):
    codes = Counter(tuple(sorted(c)) for c in product(range(rows), repeat=num_hashes))
    n = codes.total()
    others = max(values - 1, 0)
    expected = sum(c / n * (1 - (1 - c / n) ** others) for c in codes.values())
    found = code_collision_probability(values, rows, num_hashes)
    assert found == pytest.approx(expected, abs=1e-12)


@example(values=0, rows=1)
@example(values=1, rows=1)
@example(values=2, rows=1)
@example(values=2, rows=10**6)
@example(values=10**6, rows=10**6)
@given(values=st.integers(0, 10**6), rows=st.integers(1, 10**6))
def test_one_hash_equals_theorem_4_1(values, rows):
    expected = 1 - (1 - 1 / rows) ** max(values - 1, 0)
    found = code_collision_probability(values, rows, 1)
    assert found == pytest.approx(expected, abs=1e-9)


def test_corrected_example_of_the_report():
    # §3.2 prints 49,663 and 5e-12, the results for 10,000 rows
    one = code_collision_probability(50_000, 5000, 1)
    assert one == pytest.approx(0.9999546, abs=1e-7)
    assert expected_colliding(50_000, 5000, 1) == pytest.approx(49_997.7, abs=0.05)
    assert expected_colliding(50_000, 10_000, 1) == pytest.approx(49_663.2, abs=0.1)
    for rows, expected in ((5000, 8.0e-11), (10_000, 5e-12)):
        in_order = code_collision_probability(50_000, rows**4, 1)
        assert in_order == pytest.approx(expected, rel=1e-3)
    # without the order of rows
    multisets = code_collision_probability(50_000, 5000, 4)
    assert multisets == pytest.approx(1.92e-9, rel=2e-3)
    assert expected_colliding(50_000, 5000, 2) == pytest.approx(199.6, abs=0.05)


@example(values=0, num_hashes=1, bound=1e-4)
@example(values=1, num_hashes=4, bound=1e-4)
@example(values=2, num_hashes=1, bound=1e-4)
@example(values=2, num_hashes=4, bound=0.5)
@example(values=10**5, num_hashes=1, bound=1e-4)
@example(values=10**5, num_hashes=4, bound=0.5)
@given(
    values=st.integers(0, 10**5),
    num_hashes=st.integers(1, 4),
    bound=st.floats(1e-4, 0.5),
)
def test_fewest_rows_are_minimal(values, num_hashes, bound):
    limit = bound * max(values, 1)
    rows = min_rows(values, num_hashes, limit)
    assert expected_colliding(values, rows, num_hashes) <= limit
    if rows > 1:
        assert expected_colliding(values, rows - 1, num_hashes) > limit
