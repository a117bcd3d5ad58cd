"""The GPU: its arrays, its clocks, and what it is. Imports no spaCy."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

import numpy
from numpy.typing import NDArray
from thinc.api import CupyOps, Model, Ops, get_current_ops, set_current_ops

from spacy_hashembeds.acceleration.installation import examine_gpu
from spacy_hashembeds.kernels.rows import Array

from ._timing import time_on_host

ModelT = TypeVar("ModelT", bound=Model)

#: Keeps the GPU busy for a while without touching its memory or caches.
HOLD = r"""
extern "C" __global__ void hold(unsigned long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}
"""

# How long to hold the GPU until the host has queued the work: doubled until it does.
_SHORTEST_HOLD = 0.5e-3
_LONGEST_HOLD = 64e-3


class NoGpuError(RuntimeError):
    """There is no GPU to measure."""


class Device:
    """A GPU.

    cupy (Any): The module, or one that acts for it.
    ops (Ops): Thinc's ops for its arrays.
    """

    def __init__(self, cupy: Any, ops: Ops) -> None:
        self.cupy = cupy
        self.ops = ops
        self._hold = cupy.RawKernel(HOLD, "hold")

    def array(self, values: NDArray) -> Array:
        """Copy an array to the GPU."""
        return self.ops.xp.array(values)

    def get(self, array: Array) -> NDArray:
        """Get an array back."""
        return self.ops.to_numpy(array)

    def move(self, model: ModelT) -> ModelT:
        """Copy a layer to the GPU, weights and all."""
        moved = model.copy()
        moved._to_ops(self.ops)
        return moved

    @contextmanager
    def used_by_new_models(self) -> Iterator[None]:
        """Have layers that are made here stand on the GPU, as `spacy.require_gpu`."""
        before = get_current_ops()
        set_current_ops(self.ops)
        try:
            yield
        finally:
            set_current_ops(before)

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was given."""
        self.cupy.cuda.Device().synchronize()

    def time(self, run: Callable[[], object]) -> float:
        """Measure the seconds from an idle GPU until work is done, by its events.

        Launching is part of it: the GPU waits where Python takes longer than it does.
        """
        start, stop = self._make_events()
        self.synchronize()
        start.record()
        run()
        stop.record()
        return self._read(start, stop)

    def time_by_host(self, run: Callable[[], object]) -> float:
        """Measure the seconds until work is done, on the host and on the GPU."""
        self.synchronize()

        def run_to_its_end() -> None:
            run()
            self.synchronize()

        return time_on_host(run_to_its_end)

    def time_queued(self, run: Callable[[], object]) -> float:
        """Measure the seconds that the GPU takes for work that is queued already.

        It is held up until the host has queued everything, so that no launching is
        part of it. If the host took longer than that, all is done once more.

        RAISES (RuntimeError): If the host never is in time: the work waits for the GPU.
        """
        hold = _SHORTEST_HOLD
        while hold <= _LONGEST_HOLD:
            seconds = self._try_queued(run, hold)
            if seconds is not None:
                return seconds
            hold *= 2
        raise RuntimeError(
            f"The work could not be queued within {_LONGEST_HOLD:g} s: it waits for "
            "the GPU, or the host is busy with something else. Close other programs."
        )

    def can_queue(self, run: Callable[[], object]) -> bool:
        """Tell whether work can be queued, since it never waits for the GPU."""
        run()  # compiles kernels, allocates memory
        return self._try_queued(run, _LONGEST_HOLD) is not None

    def describe(self) -> dict[str, Any]:
        """Say what it is, as JSON data."""
        runtime = self.cupy.cuda.runtime
        properties = runtime.getDeviceProperties(runtime.getDevice())
        return {
            "name": properties["name"].decode(),
            "compute_capability": self.cupy.cuda.Device().compute_capability,
            "multiprocessors": properties["multiProcessorCount"],
            "l2_bytes": properties["l2CacheSize"],
            "memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
            "cuda_driver": runtime.driverGetVersion(),
            "cuda_runtime": runtime.runtimeGetVersion(),
            "cupy": self.cupy.__version__,
        }

    def _try_queued(self, run: Callable[[], object], hold: float) -> float | None:
        start, stop = self._make_events()
        self.synchronize()
        self._hold((1,), (1,), (numpy.uint64(1e9 * hold),))
        start.record()
        run()
        stop.record()
        was_late = start.done
        seconds = self._read(start, stop)
        return None if was_late else seconds

    def _make_events(self) -> tuple[Any, Any]:
        return self.cupy.cuda.Event(), self.cupy.cuda.Event()

    def _read(self, start: Any, stop: Any) -> float:
        stop.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, stop) / 1e3


def find_device() -> Device:
    """Find the GPU, and check that it works.

    RAISES (NoGpuError): If there is none, or CuPy can't use it.
    """
    gpu = examine_gpu()
    if gpu.device is None:
        what = gpu.error or "CuPy is not installed."
        raise NoGpuError(
            f"This needs a GPU by NVIDIA, and CuPy. {what} Install CuPy for the CUDA "
            "that the driver has: pip install 'spacy-hashembeds[cuda12x]' or "
            "'spacy-hashembeds[cuda13x]'."
        )
    return Device(import_module("cupy"), CupyOps())
