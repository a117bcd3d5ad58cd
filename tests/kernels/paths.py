"""Both paths of the kernels, for tests that hold for either."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_hashembeds.kernels import compiled

#: Where there is no compiler there are none.
KERNELS: Any = compiled.find()[0]

needs_kernels = pytest.mark.skipif(
    KERNELS is None, reason="there are no compiled kernels here"
)

both_paths = pytest.mark.parametrize(
    "kernels", [pytest.param(KERNELS, marks=needs_kernels, id="compiled"), None]
)


#: Those below and above the lanes of a vector, and a pipeline's.
WIDTHS = (1, 2, 7, 16, 17, 33, 96)


class Noted:
    """Kernels that note the names of those that are called.

    names (list[str]): In the order of the calls.
    """

    def __init__(self, kernels: Any) -> None:
        self.kernels = kernels
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.names.append(name)
        return getattr(self.kernels, name)


def misalign(array: NDArray) -> NDArray:
    """Copy an array to where the processor takes no numbers of its type from."""
    room = np.empty(array.nbytes + 1, dtype="uint8")
    misaligned = room[1:].view(array.dtype).reshape(array.shape)
    misaligned[...] = array
    assert not misaligned.flags.aligned
    return misaligned
