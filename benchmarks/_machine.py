"""One thread, and what it ran on."""

import os
import platform
import sys
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np
from thinc.api import get_ops

from spacy_hashembeds.acceleration.installation import is_parser_profiled
from spacy_hashembeds.systems import count_cores, find_processor, get_load

# torch itself is optional, and its types take mypy a minute to read
Torch = Any

_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")
}
_PACKAGES = (
    "spacy-hashembeds",
    "spacy",
    "thinc",
    "blis",
    "numpy",
    "torch",
)


def import_torch() -> Torch | None:
    """Import torch, or give None where it is not installed."""
    return import_module("torch") if find_spec("torch") else None


def use_one_thread() -> None:
    """Have all libraries use one thread, restarting Python unless they do already.

    They read how many threads to use when they are loaded, and this module can't be
    imported before numpy is.
    """
    if any(os.environ.get(name) != value for name, value in _ONE_THREAD.items()):
        sys.stdout.flush()
        environment = {**os.environ, **_ONE_THREAD}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
    torch = import_torch()
    if torch is not None:
        torch.set_num_threads(1)


def measure_threads() -> dict[str, float | int | None]:
    """Measure how many threads a large matrix product of each library keeps busy.

    RETURNS (dict[str, Optional[float]]): Processor seconds a second of each library,
        1 for one thread, or None where it is absent; and "torch_threads", the number
        that torch says.
    """
    X = np.ones((1000, 1000), dtype="float32")
    ops: Any = get_ops("numpy")
    torch = import_torch()
    busy: dict[str, float | int | None] = {
        "numpy": _count_busy(lambda: X @ X),
        "thinc": _count_busy(lambda: ops.gemm(X, X)),
        "torch": None,
        "torch_threads": None,
    }
    if torch is not None:
        tensor = torch.from_numpy(X)
        busy["torch"] = _count_busy(lambda: tensor @ tensor)
        busy["torch_threads"] = torch.get_num_threads()
    return busy


def check_one_thread(busy: dict[str, float | int | None]) -> None:
    """Refuse to go on where a library uses more than one thread.

    RAISES (RuntimeError): If one keeps more than one and a half processors busy.
    """
    for name, value in busy.items():
        if value is not None and value > 1.5:
            raise RuntimeError(
                f"'{name}' should use one thread, but keeps {value:.1f} busy. Run "
                "the benchmark as `python -m benchmarks.NAME`, which sets the number "
                "of threads before any library is loaded."
            )


def describe_machine() -> dict[str, Any]:
    """Describe the processor, its load, the libraries, and the time, for a result."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": find_processor(),
        "cores": count_cores(),
        "memory_gib": _count_memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_at_start": get_load(),
        "numpy_blas": f"{blas['name']} {blas['version']}",
        "versions": {
            "python": platform.python_version(),
            **{package: _find_version(package) for package in _PACKAGES},
        },
        "parser_profiled": is_parser_profiled() if find_spec("spacy") else None,
        "processors_busy": measure_threads(),
    }


def _count_busy(work: Any) -> float:
    work()
    wall, cpu = perf_counter(), process_time()
    for _ in range(3):
        work()
    return round((process_time() - cpu) / (perf_counter() - wall), 2)


def _count_memory_gib() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
