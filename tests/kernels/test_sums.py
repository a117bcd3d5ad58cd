"""Sums of rows, and their gradients, against numpy."""

import numpy as np
import pytest

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.sums import gather_add, scatter_add

from .paths import both_paths, misalign


@both_paths
@pytest.mark.parametrize("dtype", ["int32", "uint32", ">u4", "int64"])
def test_sums_equal_numpy(kernels, dtype):
    state = np.random.default_rng(0)
    table = state.normal(size=(6, 3)).astype("f")
    rows = state.integers(0, 6, (50, 2)).astype(dtype)
    with compiled.using(kernels):
        sums = gather_add(table, rows)
    np.testing.assert_allclose(sums, table[rows].sum(axis=1), atol=1e-6)


@both_paths
@pytest.mark.parametrize("dtype", ["int32", "uint32", ">u4", "int64"])
def test_gradients_equal_numpy(kernels, dtype):
    state = np.random.default_rng(0)
    rows = state.integers(0, 5, (50, 2)).astype(dtype)
    for values in (state.normal(size=(50, 3)), state.normal(size=(3, 50)).T):
        expected = np.zeros((6, 3))
        np.add.at(expected, rows, values[:, None])
        actual = np.zeros((6, 3), dtype="f")
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
