"""The machine on which timings are made, and the load from other processes."""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from spacy_hashembeds.acceleration.doctor import find_processor
from spacy_hashembeds.acceleration.timing import Spread
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.convolution import PRECISIONS, name_instructions

#: Share of our cores that other processes may keep busy.
MAX_BUSY = 0.3
#: Distance of quartiles that is accepted, relative to the median. On idle machines, it
#: was 1 to 5 percent.
MAX_SPREAD = 0.15

_STAT = Path("/proc/stat")


@contextmanager
def watch_machine() -> Iterator[dict[str, Any]]:
    """Yield a description of the machine. At the end, add the load by other processes.

    "other_cores_busy" is the average number of busy cores, or None if unknown.
    """
    start, others = perf_counter(), read_foreign_cpu_seconds()
    machine = {
        "cpu": find_processor(),
        "compiled": compiled.kernels is not None,
        "instructions": {name: name_instructions(name) for name in PRECISIONS},
        "cores": os.cpu_count() if others is None else len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "load_at_start": round(os.getloadavg()[0], 2),
    }
    yield machine
    seconds, others_at_end = perf_counter() - start, read_foreign_cpu_seconds()
    machine["load_at_end"] = round(os.getloadavg()[0], 2)
    machine["other_cores_busy"] = None
    if others is not None and others_at_end is not None:
        busy = max(0.0, others_at_end - others) / seconds
        machine["other_cores_busy"] = round(busy, 2)


def find_disturbances(
    machine: Mapping[str, Any], baselines: Mapping[str, Spread]
) -> list[str]:
    """Describe disturbances of timings: missing kernels, other processes, and baselines
    that vary.
    """
    cores, busy = machine["cores"], machine["other_cores_busy"]
    limit, found = MAX_BUSY * cores, []
    if not machine.get("compiled", True):  # not in files of earlier benchmarks
        found.append("Compiled kernels were missing. See `spacy hashembeds doctor`.")
    if busy is not None and busy > limit:
        found.append(
            f"Other processes kept {busy:.1f} of {cores} cores busy. Up to "
            f"{limit:.1f} is accepted."
        )
    for name, (middle, (lower, upper)) in baselines.items():
        if (width := (upper - lower) / middle) > MAX_SPREAD:
            found.append(
                f"The quartiles of {name} are {100 * width:.0f} percent of the median "
                f"apart. Up to {100 * MAX_SPREAD:.0f} is accepted."
            )
    return found


def describe_machine(machine: Mapping[str, Any]) -> str:
    """Describe a machine: "Python 3.12.1, AMD EPYC; load 0.05 to 1.02, …"."""
    load = f"load {machine['load_at_start']:.2f} to {machine['load_at_end']:.2f}"
    if machine["other_cores_busy"] is not None:
        load += f", others {machine['other_cores_busy']:.2f} cores"
    return f"Python {machine['python']}, {machine['cpu']}; {load}"


def read_foreign_cpu_seconds() -> float | None:
    """Return the seconds that our cores worked for other processes, None if unknown."""
    if not _STAT.is_file():
        return None
    names = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    lines = map(str.split, _STAT.read_text("utf8").splitlines())
    rows = [row for row in lines if row[0] in names]
    # user, nice, system, irq, softirq and steal; not idle and iowait
    ticks = sum(int(row[i]) for row in rows for i in (1, 2, 3, 6, 7, 8))
    return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])
