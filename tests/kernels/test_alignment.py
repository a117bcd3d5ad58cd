"""Arrays at addresses that the processor takes no numbers of their type from.

C++ may not read or write there. Whatever such an array is given to copies it, or leaves
it to numpy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.distinct import find_distinct, find_equal_rows
from spacy_hashembeds.kernels.rows import gather_add, scatter_add
from spacy_hashembeds.training.optimizers import Adam

from .paths import KERNELS, both_paths, misalign


class Guarded:
    """Kernels that refuse arrays which are not aligned."""

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                if isinstance(value, np.ndarray):
                    assert value.flags.aligned, f"{name} reads or writes elsewhere"
            return getattr(KERNELS, name)(*args, **kwargs)

        return call


def find(keys):
    return vars(find_distinct(keys)).values()


def find_in_floats(X):
    return vars(find_equal_rows(X, most=3)).values()


def optimize(weights, gradient, **kept):
    optimizer = Adam(0.01)
    for name, array in kept.items():
        getattr(optimizer, name)[0, "W"] = array
    return optimizer((0, "W"), weights, gradient)


def gather(table):
    return gather_add(table, np.array([[0, 4]], "uint32"))


def scatter(d_table, d_sums):
    scatter_add(d_table, np.array([[1, 4], [1, 1]], "int32"), d_sums)


CASES: list[tuple[Callable, dict[str, tuple[int, ...]]]] = [
    (gather, {"table": (5, 3)}),
    (scatter, {"d_table": (5, 3), "d_sums": (2, 3)}),
    (find, {"keys": (20,)}),
    (find, {"keys": (20, 2)}),
    (find_in_floats, {"X": (10, 4)}),
    (
        optimize,
        dict.fromkeys(("weights", "gradient", "mom1", "mom2", "averages"), (9,)),
    ),
]


def make_array(name, shape):
    state = np.random.default_rng(len(name))
    if name == "keys":
        return state.integers(0, 9, shape).astype("uint64")
    array = state.normal(size=shape).astype("f") ** 2
    return array[state.integers(0, 3, len(array))] if name == "X" else array


@both_paths
@pytest.mark.parametrize(
    ("function", "arrays", "name"),
    [
        pytest.param(function, arrays, name, id=f"{function.__name__}-{name}")
        for function, arrays in CASES
        for name in arrays
    ],
)
def test_an_array_that_is_not_aligned(function, arrays, name, kernels):
    """Each in turn: the same comes out, and is written to those written in place."""
    expected = {name: make_array(name, shape) for name, shape in arrays.items()}
    given = {name: array.copy() for name, array in expected.items()}
    given[name] = misalign(given[name])
    with compiled.using(kernels):
        returned = function(**expected)
    with compiled.using(kernels and Guarded()):
        found = function(**given)
    if returned is not None:
        for ours, theirs in zip(found, returned, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-6)
    for name in arrays:
        np.testing.assert_allclose(given[name], expected[name], atol=2e-6)
