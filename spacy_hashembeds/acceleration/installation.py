"""What is installed on this machine, and whether it works."""

import os
import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement

from ..kernels.cuda import gather_rows
from ..kernels.rows import Hashing, Table

PACKAGE = "spacy-hashembeds"

# What code compiled by Cython calls to profile, and for nothing else. A name that is
# imported stands in the file, stripped or not, on every system.
_PROFILING = b"PyThreadState_EnterTracing"


class Version(NamedTuple):
    """A distribution that is installed (None if not), and the range that is ours."""

    name: str
    installed: str | None
    required: str
    ok: bool


class Gpu(NamedTuple):
    """Whether CuPy is installed and usable: the GPU's name, or the error."""

    cupy: str | None
    device: str | None
    error: str | None


def find_versions() -> list[Version]:
    """Find the versions of our requirements, and of the extras that are installed."""
    own = distribution(PACKAGE)
    extras = set(own.metadata.get_all("Provides-Extra") or ()) - {"test"}
    found = [Version(PACKAGE, own.version, "", True)]
    for requirement in map(Requirement, own.requires or ()):
        marker = requirement.marker
        needed = marker is None or marker.evaluate({"extra": ""})
        optional = marker and any(marker.evaluate({"extra": e}) for e in extras)
        installed = _get_version(requirement.name)
        if needed or (optional and installed):
            ok = installed is not None and requirement.specifier.contains(
                installed, prereleases=True
            )
            required = str(requirement.specifier)
            found.append(Version(requirement.name, installed, required, ok))
    return found


def check_entry_points() -> dict[str, str]:
    """Load all that we register.

    RETURNS (dict[str, str]): The error of each name that does not load.
    """
    errors = {}
    for entry_point in distribution(PACKAGE).entry_points:
        try:
            entry_point.load()
        except Exception as e:  # whatever a broken installation raises
            errors[f"{entry_point.group}: {entry_point.name}"] = _describe_error(e)
    return errors


def examine_gpu() -> Gpu:
    """Multiply two matrices with CuPy, if it is installed, and try our kernels."""
    if find_spec("cupy") is None:
        return Gpu(None, None, None)
    try:
        cupy = import_module("cupy")
    except Exception as e:  # a library that is missing is no ImportError everywhere
        return Gpu("unknown", None, _describe_error(e))
    try:
        ones = cupy.ones((2, 2), dtype="float32")
        if float((ones @ ones).sum()) != 8:
            raise ValueError("the product of two matrices is wrong")
        try_kernels(cupy)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:
        return Gpu(cupy.__version__, None, _describe_error(e))
    return Gpu(cupy.__version__, name, None)


def try_kernels(xp: Any) -> None:
    """Have CuPy compile our kernels, and one of them sum rows of ones.

    xp (Any): CuPy.
    RAISES (ValueError): If the sum is wrong.
    """
    keys, out = xp.zeros((1, 1), dtype="uint64"), xp.zeros((1, 4), dtype="float32")
    table = Table(xp.ones((2, 4), dtype="float32"), Hashing(seed=9, num_hashes=3))
    gather_rows(keys, [table], out)
    if float(out.sum()) != 12:
        raise ValueError("the sum of rows by a kernel of ours is wrong")


def is_parser_profiled() -> bool:
    """Tell whether spaCy's parser was compiled with profiling.

    spaCy's setup.py asks for it below Python 3.12. Each function of the loop over
    states then takes and releases Python's lock when called, profiler or not.
    """
    file_ = import_module("spacy.ml.parser_model").__file__
    return file_ is not None and _PROFILING in Path(file_).read_bytes()


def find_processor() -> str:
    """Find the processor's name."""
    path = Path("/proc/cpuinfo")
    for line in path.read_text("utf8").splitlines() if path.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def count_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _get_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
