"""The machine that something is timed on, and whether it was idle meanwhile."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import quantiles
from time import perf_counter
from typing import Any

from ..kernels.convolution import PRECISIONS, name_instructions
from ..systems import count_cores, count_others_seconds, find_processor, get_load

#: How much of a core other processes may keep busy, for each core that we may use.
MAX_BUSY = 0.3
#: How far apart quartiles may be, as a share of the median. On machines that had
#: nothing else to do they were 1 to 5 percent apart.
MAX_SPREAD = 0.15

#: A median and the quartiles around it, in whatever unit.
Spread = tuple[float, tuple[float, float]]


def find_spread(rounds: Sequence[float]) -> Spread:
    """Find the median and the quartiles of what was measured in rounds."""
    lower, middle, upper = quantiles(
        [*rounds] * (3 if len(rounds) == 1 else 1), n=4, method="inclusive"
    )
    return middle, (lower, upper)


def find_width(spread: Spread) -> float:
    """Say how far apart quartiles are, as a share of the median."""
    middle, (lower, upper) = spread
    return (upper - lower) / middle


@contextmanager
def watch_machine() -> Iterator[dict[str, Any]]:
    """Describe the machine, and once the block has run, how many "other_cores_busy" it
    had on average, of the "cores" that this process may use. That and loads are None
    where the system doesn't tell, and "instructions" for products of a precision where
    there are none.
    """
    machine = {
        "cpu": find_processor(),
        "instructions": {name: name_instructions(name) for name in PRECISIONS},
        "cores": count_cores(),
        "python": platform.python_version(),
        "load_at_start": get_load(),
    }
    start, others = perf_counter(), count_others_seconds()
    yield machine
    seconds, others_at_end = perf_counter() - start, count_others_seconds()
    machine["load_at_end"] = get_load()
    machine["other_cores_busy"] = (
        None
        if others is None or others_at_end is None
        else round(max(0.0, others_at_end - others) / seconds, 2)
    )


def find_disturbances(
    machine: Mapping[str, Any], baselines: Mapping[str, Spread]
) -> list[str]:
    """Say what speaks against timings: other work, and baselines that vary."""
    cores, busy, load = (
        machine[key] for key in ("cores", "other_cores_busy", "load_at_start")
    )
    limit, found = MAX_BUSY * cores, []
    if busy is not None and busy > limit:
        found.append(
            f"Other processes kept {busy:.1f} of {cores} cores busy meanwhile, where "
            f"up to {limit:.1f} does no harm."
        )
    # A load average remembers what we did before, such as training.
    elif busy is None and load is not None and load > limit:
        found.append(
            f"The load average was {load:.2f} at the start, where up to {limit:.1f} "
            f"does no harm on {cores} cores."
        )
    for name, spread in baselines.items():
        if (width := find_width(spread)) > MAX_SPREAD:
            found.append(
                f"The quartiles of {name} are {100 * width:.0f} percent of its "
                f"median apart, where up to {100 * MAX_SPREAD:.0f} does no harm."
            )
    return found


def describe_machine(machine: Mapping[str, Any]) -> str:
    """Say "Python 3.12.1, AMD EPYC; load 0.05 to 1.02, others 0.01 cores"."""
    loads = (machine["load_at_start"], machine["load_at_end"])
    parts = []
    if known := [f"{load:.2f}" for load in loads if load is not None]:
        parts.append(f"load {' to '.join(known)}")
    if machine["other_cores_busy"] is not None:
        parts.append(f"others {machine['other_cores_busy']:.2f} cores")
    load = ", ".join(parts) or "load unknown"
    return f"Python {machine['python']}, {machine['cpu']}; {load}"
