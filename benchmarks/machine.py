"""One thread, and what it ran on."""

import platform
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np
from spacy.util import get_package_version
from thinc.api import get_ops

from spacy_hashembeds.acceleration.installation import is_parser_profiled

_PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "blis", "numpy", "torch")


def import_torch() -> Any:
    """Import torch, whose types take mypy a minute to read, or give None without it."""
    return import_module("torch") if find_spec("torch") else None


def describe_software() -> dict[str, Any]:
    """Describe libraries, and the processors that a large product of each keeps busy.

    RAISES (RuntimeError): If one uses more than one thread.
    """
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    busy = measure_busy()
    for name, value in busy.items():
        if value > 1.5:
            raise RuntimeError(
                f"'{name}' should use one thread, but keeps {value:.1f} busy. Run "
                "the benchmark as `python -m benchmarks NAME`, which sets the number "
                "of threads before any library is loaded."
            )
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.machine()}",
        "numpy_blas": f"{blas['name']} {blas['version']}",
        "versions": {name: get_package_version(name) for name in _PACKAGES},
        "parser_profiled": is_parser_profiled(),
        "processors_busy": busy,
    }


def measure_busy() -> dict[str, float]:
    """Measure how many processors a large matrix product of each library keeps busy."""
    X, ops, torch = np.ones((1000, 1000), "float32"), get_ops("numpy"), import_torch()
    busy = {"numpy": _count_busy(X, np.matmul), "thinc": _count_busy(X, ops.gemm)}
    if torch is not None:
        busy["torch"] = _count_busy(torch.from_numpy(X), torch.matmul)
    return busy


def _count_busy(X: Any, multiply: Any) -> float:
    multiply(X, X)
    wall, cpu = perf_counter(), process_time()
    for _ in range(3):
        multiply(X, X)
    return round((process_time() - cpu) / (perf_counter() - wall), 2)
