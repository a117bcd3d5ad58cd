"""Compiled kernels and numpy, as parameters of tests."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_hashembeds.kernels import compiled

KERNELS: Any = compiled.find()[0]

needs_kernels = pytest.mark.skipif(KERNELS is None, reason="no compiled kernels")

both_paths = pytest.mark.parametrize(
    "kernels", [pytest.param(KERNELS, marks=needs_kernels, id="compiled"), None]
)

#: Below and above the lanes of a vector, and a common width.
WIDTHS = (1, 2, 7, 16, 17, 33, 96)


class Noted:
    """Kernels that record the names of calls, in order."""

    def __init__(self, kernels: Any) -> None:
        self.kernels = kernels
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.names.append(name)
        return getattr(self.kernels, name)


def misalign(array: NDArray) -> NDArray:
    """Copy an array to a misaligned address."""
    memory = np.empty(array.nbytes + 1, dtype="uint8")
    misaligned = memory[1:].view(array.dtype).reshape(array.shape)
    misaligned[...] = array
    assert not misaligned.flags.aligned
    return misaligned
