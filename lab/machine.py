"""The machine that something is timed on, and whether it was idle meanwhile."""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from spacy_hashembeds.acceleration.doctor import find_processor
from spacy_hashembeds.acceleration.timing import Spread
from spacy_hashembeds.kernels.convolution import PRECISIONS, name_instructions

#: How much of a core other processes may keep busy, for each core that we may use.
MAX_BUSY = 0.3
#: How far apart quartiles may be, as a share of the median. On machines that had
#: nothing else to do they were 1 to 5 percent apart.
MAX_SPREAD = 0.15

_STAT = Path("/proc/stat")


@contextmanager
def watch_machine() -> Iterator[dict[str, Any]]:
    """Describe the machine, and once the block has run, how many "other_cores_busy" it
    had on average, of the "cores" that this process may use. That and loads are None
    where the system does not tell.
    """
    start, others = perf_counter(), count_others_seconds()
    machine = {
        "cpu": find_processor(),
        "instructions": {name: name_instructions(name) for name in PRECISIONS},
        "cores": os.cpu_count() if others is None else len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "load_at_start": _get_load(),
    }
    yield machine
    seconds, others_at_end = perf_counter() - start, count_others_seconds()
    machine["load_at_end"] = _get_load()
    machine["other_cores_busy"] = (
        None
        if others is None or others_at_end is None
        else round(max(0.0, others_at_end - others) / seconds, 2)
    )


def find_disturbances(
    machine: Mapping[str, Any], baselines: Mapping[str, Spread]
) -> list[str]:
    """Describe what speaks against timings: other work, and baselines that vary.

    A load average does not: it remembers what we did before, such as training.
    """
    cores, busy = machine["cores"], machine["other_cores_busy"]
    limit, found = MAX_BUSY * cores, []
    if busy is not None and busy > limit:
        found.append(
            f"Other processes kept {busy:.1f} of {cores} cores busy meanwhile, where "
            f"up to {limit:.1f} does no harm."
        )
    for name, (middle, (lower, upper)) in baselines.items():
        if (width := (upper - lower) / middle) > MAX_SPREAD:
            found.append(
                f"The quartiles of {name} are {100 * width:.0f} percent of its "
                f"median apart, where up to {100 * MAX_SPREAD:.0f} does no harm."
            )
    return found


def describe_machine(machine: Mapping[str, Any]) -> str:
    """Describe it: "Python 3.12.1, AMD EPYC; load 0.05 to 1.02, others 0.01 cores"."""
    loads = (machine["load_at_start"], machine["load_at_end"])
    parts = []
    if known := [f"{load:.2f}" for load in loads if load is not None]:
        parts.append(f"load {' to '.join(known)}")
    if machine["other_cores_busy"] is not None:
        parts.append(f"others {machine['other_cores_busy']:.2f} cores")
    load = ", ".join(parts) or "load unknown"
    return f"Python {machine['python']}, {machine['cpu']}; {load}"


def _get_load() -> float | None:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def count_others_seconds() -> float | None:
    """Count the seconds that the cores which this process may use worked for others
    than it and its children, also for virtual machines, or None.
    """
    if not _STAT.is_file():
        return None
    names = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    lines = map(str.split, _STAT.read_text("utf8").splitlines())
    rows = [row for row in lines if row[0] in names]
    # user, nice, system, irq, softirq and steal; not idle and iowait
    ticks = sum(int(row[i]) for row in rows for i in (1, 2, 3, 6, 7, 8))
    return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])
