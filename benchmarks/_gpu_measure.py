"""How contenders on the GPU are timed and compared. Imports no spaCy."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from spacy_hashembeds.kernels.cuda import DETERMINISTIC_NAME

from ._gpu_device import Device
from ._timing import Contender, Maker, Schedule, Timing, Work, time_in_turns

#: How far results may be apart, relative to the largest of them.
TOLERANCE = 1e-5

#: Gradients of frequent rows are sums of ten thousands of numbers in single precision,
#: in one order or another. One number too few or too many is still seen.
GRADIENT_TOLERANCE = 1e-4

#: How contenders are timed: see `time_both_ways`.
CLOCKS = ("called", "queued")

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the kernels and the tables are measured on.

    tokens (tuple[int, ...]): The tokens of a batch.
    width (int): The width of each table.
    pieces (int): Linear pieces of the Maxout layer.
    rows (tuple[int, ...]): The rows of tables as usual: spaCy's own. They fit in L2.
    large_rows (tuple[int, ...]): The rows of tables that are far larger than L2.
    samples (int): How many batches take turns.
    copied_bytes (int): The size of the array that is copied, far beyond L2.
    """

    tokens: tuple[int, ...] = (1000, 10_000, 100_000)
    width: int = 96
    pieces: int = 3
    rows: tuple[int, ...] = (5000, 1000, 2500, 2500)
    large_rows: tuple[int, ...] = (500_000,) * 4
    samples: int = 32
    copied_bytes: int = 2**31


def time_both_ways(
    device: Device,
    makers: Mapping[str, Maker[Any]],
    samples: Sequence[Any],
    schedule: Schedule,
) -> dict[str, Json]:
    """Time contenders as they are called, and what of it the GPU takes.

    RETURNS (dict[str, Json]): For each contender "called", from an idle GPU to the end,
        with launching; and "queued", without: None if it waits for the GPU in between.
    """
    queueing = {
        name: make
        for name, make in makers.items()
        if device.can_queue(make()(samples[0]))
    }
    work = Work(samples, _count_one)
    called = time_in_turns(makers, work, schedule, device.time)
    queued: dict[str, Timing] = {}
    if queueing:
        queued = time_in_turns(queueing, work, schedule, device.time_queued)
    return {
        name: {
            "called": to_ms(timing),
            "queued": to_ms(queued[name]) if name in queued else None,
        }
        for name, timing in called.items()
    }


def to_ms(timing: Timing) -> Json:
    """Say what was measured of whole samples, in milliseconds."""
    return {
        "ms": 1e3 * timing.median,
        "ms_quartiles": [1e3 * seconds for seconds in timing.quartiles],
        "times_measured": len(timing.seconds_per_word),
    }


def get_ratio(times: Mapping[str, Json], slow: str, fast: str, clock: str) -> Any:
    """Say how many times as fast one is as the other, by medians: None if unknown."""
    a, b = times[slow][clock], times[fast][clock]
    return a["ms"] / b["ms"] if a and b else None


def compare(
    name: str, actual: NDArray, expected: NDArray, tolerance: float = TOLERANCE
) -> float:
    """Compare a result with what it should be, before anything is timed.

    name (str): Of the contender.
    RAISES (RuntimeError): If it is off by more than the tolerance, or not a number.
    RETURNS (float): The largest difference, relative to the largest number.
    """
    scale = float(abs(expected).max())
    difference = float(abs(actual - expected).max())
    if not difference <= tolerance * scale:  # NaN too
        raise RuntimeError(
            f"The result of '{name}' should be within {tolerance:g} of what it is "
            f"compared with, relative to {scale:g}, but differs by {difference:g}. "
            "Times of wrong numbers mean nothing: mend it first."
        )
    return difference / scale


@contextmanager
def order_fixed(is_fixed: bool) -> Iterator[None]:
    """Have gradients be added up in a fixed order, or not, by the user's setting."""
    before = os.environ.get(DETERMINISTIC_NAME)
    os.environ[DETERMINISTIC_NAME] = str(int(is_fixed))
    try:
        yield
    finally:
        del os.environ[DETERMINISTIC_NAME]
        if before is not None:
            os.environ[DETERMINISTIC_NAME] = before


def with_order(make: Maker[Any], is_fixed: bool) -> Maker[Any]:
    """Make a contender that adds up gradients in a fixed order, or does not."""

    def run_so(run: Callable[[], object]) -> None:
        with order_fixed(is_fixed):
            run()

    def make_so() -> Contender[Any]:
        contender = make()

        def prepare(sample: Any) -> Callable[[], object]:
            with order_fixed(is_fixed):  # it may train a step to warm up
                run = contender(sample)
            return lambda: run_so(run)

        return prepare

    return make_so


def _count_one(sample: Any) -> int:
    return 1
