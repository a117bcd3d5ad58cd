"""GPUs to run the tests of this folder on: an emulated one, and a real one.

The emulated GPU runs the same kernels on the CPU (see `emulation.py`), with arrays of
numpy instead of CuPy, and compiled by g++.
"""

from ctypes import CDLL
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
from thinc.api import CupyOps, Model, NumpyOps, Ops

from spacy_hashembeds.kernels import cuda

from . import emulation


@dataclass(frozen=True)
class Gpu:
    """A real or an emulated GPU."""

    ops: Ops

    def copy(self, model: Model) -> Model:
        """Copy a model to the GPU."""
        copied = model.copy()
        if isinstance(self.ops, CupyOps):
            copied.to_gpu(0)
        for node in copied.walk():
            node.ops = self.ops
        return copied

    def copy_back(self, model: Model) -> Model:
        """Copy a model of the GPU to the CPU."""
        copied = model.copy()
        copied.to_cpu()
        for node in copied.walk():
            node.ops = NumpyOps()
        return copied

    def array(self, values: Any) -> Any:
        return self.ops.xp.array(values)

    def get(self, values: Any) -> numpy.ndarray:
        return self.ops.to_numpy(values)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory) -> dict[str, CDLL]:
    """The kernels, compiled for the CPU."""
    return emulation.compile_kernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch) -> Gpu:
    if request.param == "real":
        return Gpu(CupyOps())
    libraries = request.getfixturevalue("kernels")
    return Gpu(emulation.emulate(monkeypatch, libraries))


@pytest.fixture
def used(monkeypatch) -> list[tuple[str, str]]:
    """Return a list that records the kernels that are used, and their vectors."""
    names: list[tuple[str, str]] = []
    get_kernel = cuda.get_kernel
    monkeypatch.setattr(
        cuda, "get_kernel", lambda *n: names.append(n) or get_kernel(*n)
    )
    return names


@pytest.fixture
def same_dropout(monkeypatch) -> None:
    """Draw dropout masks of all ops from numpy's random numbers."""

    def draw(self: Ops, shape: tuple[int, ...], drop: float | None) -> Any:
        kept = numpy.random.uniform(size=shape) >= (drop or 0)
        return self.asarray((kept / (1 - (drop or 0))).astype("f"))

    monkeypatch.setattr(Ops, "get_dropout_mask", draw)
