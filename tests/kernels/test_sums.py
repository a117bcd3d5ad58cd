"""Sums of rows, and their gradients, against numpy."""

from itertools import product

import numpy as np
import pytest

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.sums import gather_add, scatter_add

from .paths import WIDTHS, both_paths, misalign


@both_paths
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", ["int32", "uint32", ">u4", "int64"])
def test_sums_equal_numpy(kernels, dtype, width):
    state = np.random.default_rng(0)
    table = state.normal(size=(6, width)).astype("f")
    for k in (1, 2, 3):
        rows = state.integers(0, 6, (50, k)).astype(dtype)
        with compiled.using(kernels):
            sums = gather_add(table, rows)
        np.testing.assert_allclose(sums, table[rows].sum(axis=1), atol=1e-6)


@both_paths
def test_tables_may_be_for_reading_only(kernels):
    """As a memory map that worker processes share."""
    table = np.arange(12, dtype="f").reshape(4, 3)
    table.flags.writeable = False
    rows = np.array([[0, 3], [2, 2]], dtype="uint32")
    with compiled.using(kernels):
        sums = gather_add(table, rows)
    np.testing.assert_array_equal(sums, [[9, 11, 13], [12, 14, 16]])


@both_paths
def test_no_rows_have_no_sums(kernels):
    table, rows = np.ones((4, 3), dtype="f"), np.zeros((0, 2), dtype="uint32")
    with compiled.using(kernels):
        sums = gather_add(table, rows)
        scatter_add(table, rows, sums)
    assert (sums.shape, sums.dtype) == ((0, 3), "float32")
    assert (table == 1).all()


@both_paths
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", ["int32", "uint32", ">u4", "int64"])
def test_gradients_equal_numpy(kernels, dtype, width):
    state = np.random.default_rng(0)
    plain, turned = state.normal(size=(50, width)), state.normal(size=(width, 50)).T
    for k, values in product((1, 2, 3), (plain, turned)):
        rows = state.integers(0, 5, (50, k)).astype(dtype)
        expected = np.ones((6, width))
        np.add.at(expected, rows, values[:, None])
        actual = np.ones((6, width), dtype="f")
        with compiled.using(kernels):
            scatter_add(actual, rows, values.astype("f"))
        np.testing.assert_allclose(actual, expected, atol=1e-5)


@both_paths
@pytest.mark.parametrize("lay", [misalign, np.copy])
def test_gradients_for_reading_only_are_refused(kernels, lay):
    d_table = lay(np.zeros((6, 3), dtype="f"))
    d_table.flags.writeable = False
    rows, d_sums = np.ones((2, 1), dtype="int32"), np.ones((2, 3), dtype="f")
    with compiled.using(kernels), pytest.raises(ValueError, match="read-only"):
        scatter_add(d_table, rows, d_sums)
