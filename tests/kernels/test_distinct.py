"""Distinct keys and rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_hashembeds.kernels import compiled, distinct
from spacy_hashembeds.kernels.distinct import find_distinct, find_equal_rows

from .paths import Noted, both_paths

sizes = st.integers(1, 40)
# few small values, for copies, and large ones
values = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))


def test_hash_collisions_in_numpy(monkeypatch):
    """Zero multipliers map all rows to the same hash."""
    monkeypatch.setattr(compiled, "kernels", None)
    monkeypatch.setattr(distinct, "_MULTIPLIERS", np.zeros(64, dtype="uint64"))
    rows = np.array([[1, 2], [3, 4], [1, 2], [2, 1]], dtype="uint64")
    found = find_distinct(rows)
    assert found.values.tolist() == [[1, 2], [3, 4], [2, 1]]
    np.testing.assert_array_equal(found.values[found.copies], rows)


@both_paths
@given(rows=hnp.arrays("uint64", st.tuples(sizes, st.integers(1, 6)), elements=values))
def test_values_are_in_order_of_first_occurrence(kernels, rows):
    """This order makes layers with random numbers equal on both paths."""
    with compiled.using(noted := kernels and Noted(kernels)):
        found, column = find_distinct(rows), find_distinct(rows[:, 0])
        signed = find_distinct(rows[:, 0].astype("int64"))
    with compiled.using(kernels):  # another byte order and layout
        swapped = find_distinct(np.asfortranarray(rows.astype(">u8")))
    np.testing.assert_array_equal(swapped.copies, found.copies)
    # numpy processes signed keys
    assert noted is None or noted.names == ["find_distinct"] * 2
    expected = dict.fromkeys(map(tuple, rows.tolist()))
    assert list(map(tuple, found.values.tolist())) == list(expected)
    np.testing.assert_array_equal(found.values[found.copies], rows)
    assert column.values.tolist() == list(dict.fromkeys(rows[:, 0].tolist()))
    np.testing.assert_array_equal(column.values[column.copies], rows[:, 0])
    np.testing.assert_array_equal(signed.copies, column.copies)


@both_paths
@given(keys=hnp.arrays("uint64", sizes, elements=values), width=st.integers(1, 5))
def test_gather_and_scatter_add(kernels, keys, width):
    found = find_distinct(keys)
    state = np.random.default_rng(0)
    Y = state.normal(size=(len(found.values), width)).astype("f")
    dY = state.normal(size=(len(keys), width)).astype("f")
    with compiled.using(kernels):
        gathered, summed = found.gather(Y), found.scatter_add(dY)
    np.testing.assert_array_equal(gathered, Y[found.copies])
    expected = [dY[found.copies == i].sum(axis=0) for i in range(len(Y))]
    np.testing.assert_allclose(summed, expected, atol=1e-5)


@both_paths
@given(
    X=hnp.arrays(
        "float32",
        st.tuples(sizes, st.integers(2, 5)),
        elements=st.floats(width=32) | st.sampled_from([0.0, -0.0]),
    )
)
def test_find_equal_rows(kernels, X):
    """Rows are compared bitwise: -0.0 differs from 0.0, and NaN equals NaN."""
    rows = [row.tobytes() for row in X]
    n_distinct, n_beginnings = len(set(rows)), len({row.tobytes() for row in X[:, :2]})
    with compiled.using(noted := kernels and Noted(kernels)):
        found = find_equal_rows(X, most=n_distinct)
        none = find_equal_rows(X, most=n_beginnings - 1)
    assert noted is None or noted.names == ["find_equal_rows"] * 2
    assert none is None
    if found is None:
        assert n_beginnings < n_distinct
    else:
        assert len(found.values) == n_distinct
        assert [row.tobytes() for row in found.gather(found.values)] == rows


@both_paths
def test_too_many_hash_misses(kernels):
    """Rows that differ only in numbers that are not hashed share a slot."""
    few, many = np.ones((2, 300, 6), dtype="float32")
    few[:, 5], many[:, 5] = np.arange(300) % 5, np.arange(300)
    with compiled.using(kernels):
        assert find_equal_rows(many, most=300) is None
        assert find_equal_rows(few[:, :1].copy(), most=300) is None
        found = find_equal_rows(few, most=300)
    if kernels is None:
        assert found is None
    else:
        assert found.values[:, 5].tolist() == [0, 1, 2, 3, 4]
        assert found.copies.tolist() == [i % 5 for i in range(300)]
