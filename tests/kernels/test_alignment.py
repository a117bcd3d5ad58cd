"""Arrays at addresses that the processor takes no numbers of their type from.

C++ may not read or write there. Whatever such an array is given to copies it, or leaves
it to numpy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.distinct import find_distinct, find_equal_rows
from spacy_hashembeds.kernels.mixing import Norm, add_finished, begin_finish, finish
from spacy_hashembeds.kernels.sums import gather_add, scatter_add
from spacy_hashembeds.kernels.windows import add_windows, copy_windows
from spacy_hashembeds.optimizers import Adam

from .paths import KERNELS, both_paths, misalign

_state = np.random.default_rng(0)


def make_floats(*shape):
    return _state.normal(size=shape).astype("float32")


NORM = {"bias": make_floats(12), "scale": make_floats(4), "shift": make_floats(4)}
KEYS = _state.integers(0, 9, (20, 2)).astype("uint64")
EQUAL = make_floats(3, 4)[_state.integers(0, 3, 10)]


class Guarded:
    """Kernels that refuse arrays which are not aligned."""

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            norms = [
                array for arg in args if isinstance(arg, Sequence) for array in arg
            ]
            for value in (*args, *norms, *kwargs.values()):
                if isinstance(value, np.ndarray):
                    assert value.flags.aligned, f"{name} reads or writes elsewhere"
            return getattr(KERNELS, name)(*args, **kwargs)

        return call


def finish_rows(mixed, **norm):
    return finish(mixed, Norm(**norm))


def add_finished_rows(mixed, Y, **norm):
    add_finished(mixed, Norm(**norm), Y)


def update(mixed, dY, d_bias, d_scale, d_shift, **norm):
    Y, backprop = begin_finish(mixed, Norm(**norm))
    return Y, backprop(dY, Norm(d_bias, d_scale, d_shift))


def find(keys):
    return vars(find_distinct(keys)).values()


def find_in_floats(X):
    return vars(find_equal_rows(X, most=3)).values()


def copy_neighbours(X, rows):
    return copy_windows(X, rows, 1)


def add_neighbours(dX, rows, d_windows):
    add_windows(dX, rows, 1, d_windows)


def optimize(weights, gradient, **kept):
    optimizer = Adam(0.01)
    for name, array in kept.items():
        getattr(optimizer, name)[0, "W"] = array
    return optimizer((0, "W"), weights, gradient)


CASES = [
    (gather_add, {"table": make_floats(5, 3), "rows": np.array([[0, 4]], "uint32")}),
    (
        scatter_add,
        {
            "d_table": make_floats(5, 3),
            "rows": np.array([[1, 4], [1, 1]], "int32"),
            "d_sums": make_floats(2, 3),
        },
    ),
    (finish_rows, {"mixed": make_floats(3, 12), **NORM}),
    (add_finished_rows, {"mixed": make_floats(3, 12), "Y": make_floats(3, 4), **NORM}),
    (
        update,
        {
            "mixed": make_floats(3, 12),
            "dY": make_floats(3, 4),
            "d_bias": make_floats(12),
            "d_scale": make_floats(4),
            "d_shift": make_floats(4),
            **NORM,
        },
    ),
    (find, {"keys": KEYS[:, 0].copy()}),
    (find, {"keys": KEYS}),
    (find_in_floats, {"X": EQUAL}),
    (copy_neighbours, {"X": make_floats(5, 3), "rows": np.array([1, 3])}),
    (
        add_neighbours,
        {
            "dX": make_floats(5, 3),
            "rows": np.array([1, 3]),
            "d_windows": make_floats(2, 9),
        },
    ),
    (
        optimize,
        {
            "weights": make_floats(9),
            "gradient": make_floats(9),
            "mom1": make_floats(9),
            "mom2": np.abs(make_floats(9)),
            "averages": make_floats(9),
        },
    ),
]


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
    expected = {name: array.copy() for name, array in arrays.items()}
    given = {name: array.copy() for name, array in arrays.items()}
    given[name] = misalign(given[name])
    with compiled.using(kernels):
        returned = function(**expected)
    with compiled.using(kernels and Guarded()):
        found = function(**given)
    if returned is not None:
        for ours, theirs in zip(found, returned, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-6)
    for name in set(arrays) - {"mixed"}:  # numpy writes over it, kernels need not
        np.testing.assert_allclose(given[name], expected[name], atol=2e-6)
