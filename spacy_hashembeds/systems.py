"""Differences between systems, and what is done without a feature.

Windows has none of it, and macOS no `/proc`.
"""

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

STANDARD_INPUT, STANDARD_OUTPUT = Path("/dev/stdin"), Path("/dev/stdout")

_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
# The system's numbers are C's int.
_DESCRIPTOR = re.compile("/(?:dev|proc/self)/fd/([0-9]{1,9})")
_CPUINFO, _STAT = Path("/proc/cpuinfo"), Path("/proc/stat")


def find_descriptor(path: str | Path) -> int | None:
    """Find which open file a path names: 1 for `/dev/stdout`, 3 for `/dev/fd/3`. Where
    no such files are, the names are known nevertheless.
    """
    name = path if isinstance(path, str) else path.as_posix()
    match = _DESCRIPTOR.fullmatch(name)
    return _STREAMS.get(name) if match is None else int(match[1])


def open_file(path: Path, mode: str, **settings: Any) -> IO[Any]:
    """Open a file as Python does, but one that is open go on: to open it by its name
    would start at its beginning.
    """
    descriptor = find_descriptor(path)
    try:
        place = path if descriptor is None else os.dup(descriptor)
    except OSError as e:  # a number alone has no name
        raise OSError(e.errno, e.strerror, str(path)) from e
    return open(place, mode, **settings)


def at_fork(**callbacks: Callable[[], object]) -> None:
    """Have functions called at each fork, as Python does. Windows has none."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**callbacks)


def find_processor() -> str:
    """Find the processor's name, or no more than its kind."""
    for line in _read_lines(_CPUINFO):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def count_cores() -> int:
    """Count the cores that this process may use, or all that there are."""
    return len(_list_cores())


def get_load() -> float | None:
    """Get the load average of the last minute, or None."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def count_others_seconds() -> float | None:
    """Count the seconds that the cores which this process may use worked for others
    than it and its children, also for virtual machines, or None.
    """
    rows = map(str.split, _read_lines(_STAT))
    table = {row[0]: row[1:9] for row in rows if len(row) > 8}
    cores = table.keys() & {f"cpu{core}" for core in _list_cores()}
    names = cores or table.keys() & {"cpu"}
    if not names:
        return None
    # user, nice, system, irq, softirq and steal; not idle and iowait
    ticks = sum(int(table[name][i]) for name in names for i in (0, 1, 2, 5, 6, 7))
    return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def _list_cores() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf8", errors="replace").splitlines()
    except OSError:
        return []
