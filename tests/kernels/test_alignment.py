"""Misaligned arrays, which compiled kernels must not access: undefined in C++."""

from typing import Any

import numpy as np
import pytest

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.distinct import find_distinct, find_equal_rows
from spacy_hashembeds.kernels.rows import gather_add, scatter_add
from spacy_hashembeds.training.optimizers import Adam

from .paths import KERNELS, misalign, needs_kernels


class Guarded:
    """Kernels that assert that arrays are aligned."""

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                if isinstance(value, np.ndarray):
                    assert value.flags.aligned, f"{name} gets a misaligned array"
            return getattr(KERNELS, name)(*args, **kwargs)

        return call


def optimize(weights, gradient, mom1, mom2, averages):
    optimizer = Adam(0.01)
    optimizer.mom1[0, "W"], optimizer.mom2[0, "W"] = mom1, mom2
    optimizer.averages[0, "W"] = averages
    return optimizer((0, "W"), weights, gradient)


ROWS, KEYS = np.array([[1, 4], [1, 1]], "int32"), np.arange(20, dtype="uint64") % 7
E, *FLOATS = np.random.default_rng(0).normal(size=(6, 5, 3)).astype("f") ** 2

#: Functions, which may write to arrays, and their arguments.
CALLS = [
    (lambda E: [gather_add(E, ROWS)], E),
    (lambda dE, dY: scatter_add(dE, ROWS, dY), E, FLOATS[0][:2]),
    (lambda keys: vars(find_distinct(keys)).values(), KEYS),
    (lambda keys: vars(find_distinct(keys)).values(), KEYS.reshape(-1, 2)),
    (lambda X: vars(find_equal_rows(X, most=3)).values(), np.tile(E[:2], (5, 1))),
    (optimize, *(array.reshape(-1) for array in FLOATS)),
]


@needs_kernels
@pytest.mark.parametrize(
    ("call", "i"), [(call, i) for call in CALLS for i in range(len(call) - 1)]
)
def test_misaligned_array(call, i):
    """Results and arrays written in place are the same as for aligned arrays."""
    function, *arrays = call
    aligned, misaligned = ([array.copy() for array in arrays] for _ in range(2))
    misaligned[i] = misalign(misaligned[i])
    with compiled.using(KERNELS):
        expected = function(*aligned)
    with compiled.using(Guarded()):
        actual = function(*misaligned)
    pairs = [*zip(misaligned, aligned, strict=True)]
    for ours, theirs in [*pairs, *zip(actual or (), expected or (), strict=True)]:
        np.testing.assert_allclose(ours, theirs, atol=2e-6)
