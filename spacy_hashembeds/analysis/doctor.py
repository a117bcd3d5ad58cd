"""What the package finds on this machine, what is broken, and what could be faster."""

import os
import platform
import shutil
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from typing import NamedTuple

from packaging.requirements import Requirement
from thinc.api import NumpyOps, get_current_ops

from ..blas import (
    BLIS_OPS,
    NUMPY_BLAS_OPS,
    Blas,
    describe_blis,
    describe_numpy_blas,
    is_faster,
    measure_speeds,
)

PACKAGE = "spacy-hashembeds"
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Names of the choices that the speeds are measured of.
_BLIS = "blis"
_NUMPY = "numpy's BLAS, one thread"


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


@dataclass(frozen=True)
class Health:
    """All that was found.

    versions (list[Version]): Our requirements, and the extras that are installed.
    processor (str): Its name.
    cores (int): How many this process may use.
    ops (str): The class of Thinc's operations that pipelines get here by default.
    blas (list[Blas]): The libraries that can multiply matrices.
    speeds (dict[str, list[float]]): What each reaches at each of `blas.SHAPES`, in
        GFLOP/s.
    threads (dict[str, str]): Environment variables that set threads.
    gpu (Gpu): CuPy and the GPU.
    problems (list[str]): What is broken.
    advice (list[str]): What to change, and what it brings.
    """

    versions: list[Version]
    processor: str
    cores: int
    ops: str
    blas: list[Blas]
    speeds: dict[str, list[float]]
    threads: dict[str, str]
    gpu: Gpu
    problems: list[str]
    advice: list[str]


def examine() -> Health:
    """Examine the machine and the installation. Takes about a second."""
    versions = find_versions()
    blas = [describe_blis(), describe_numpy_blas()]
    speeds = measure_choices(blas[1].threads)
    gpu = examine_gpu()
    return Health(
        versions=versions,
        processor=_get_processor(),
        cores=_count_cores(),
        ops=type(get_current_ops()).__name__,
        blas=blas,
        speeds=speeds,
        threads={key: os.environ[key] for key in THREAD_VARIABLES if key in os.environ},
        gpu=gpu,
        problems=find_problems(versions, check_entry_points(), gpu),
        advice=[*advise_on_blas(blas, speeds), *advise_on_gpu(gpu)],
    )


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
    """Multiply two small matrices with CuPy, if it is installed."""
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
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:
        return Gpu(cupy.__version__, None, _describe_error(e))
    return Gpu(cupy.__version__, name, None)


def measure_choices(threads: int | None) -> dict[str, list[float]]:
    """Measure the speed of each BLAS at `blas.SHAPES`, in GFLOP/s.

    threads (int | None): How many threads numpy's BLAS would use. If they are
        several, it is measured with them as well.
    """
    speeds = measure_speeds({_BLIS: BLIS_OPS, _NUMPY: NUMPY_BLAS_OPS})
    if threads and threads > 1:
        # not in turns with the others: its threads go on waiting for work for a while
        name = f"numpy's BLAS, {threads} threads"
        speeds |= measure_speeds({name: NumpyOps(use_blis=False)})
    ops = get_current_ops()
    if type(ops) is not NumpyOps and isinstance(ops, NumpyOps):
        speeds |= measure_speeds({type(ops).__name__: ops})
    return speeds


def find_problems(
    versions: list[Version], entry_points: dict[str, str], gpu: Gpu
) -> list[str]:
    """Say what is broken and how to mend it."""
    problems = [
        f"{v.name} should be {v.required or 'installed'}, but "
        f"{'is ' + v.installed if v.installed else 'is not installed'}. "
        f"Try: pip install '{v.name}{v.required}'"
        for v in versions
        if not v.ok
    ]
    problems += [
        f"Can't load {name} ({error}). Install {PACKAGE} again."
        for name, error in entry_points.items()
    ]
    if gpu.error is not None:
        problems.append(
            f"CuPy is installed, but can't be used ({gpu.error}). Install the CuPy "
            "that fits the driver of your GPU, such as with the extras 'cuda12x' and "
            f"'cuda13x' of {PACKAGE}, or remove it."
        )
    return problems


def advise_on_blas(blas: list[Blas], speeds: dict[str, list[float]]) -> list[str]:
    """Say whether another BLAS would be faster for pipelines on the CPU."""
    if type(get_current_ops()) is not NumpyOps:
        return []
    if not is_faster(speeds[_NUMPY], speeds[_BLIS]):
        return []
    pairs = zip(speeds[_NUMPY], speeds[_BLIS], strict=True)
    ratios = sorted(own / blis for own, blis in pairs)
    kernels = blas[0].kernels
    return [
        f"Matrix products are {ratios[0]:.1f} to {ratios[-1]:.1f} times as fast with "
        f"numpy's BLAS as with blis, which Thinc uses here"
        f"{f' with its {kernels} kernels' if kernels else ''}. Put pipelines on it: "
        '[nlp.before_creation] @callbacks = "spacy-hashembeds.use_fastest_blas.v1"'
    ]


def advise_on_gpu(gpu: Gpu) -> list[str]:
    """Say how to use a GPU that seems to be there."""
    if gpu.cupy is not None or shutil.which("nvidia-smi") is None:
        return []
    return [
        "There seems to be an NVIDIA GPU, but CuPy is not installed. To use it: "
        f"pip install '{PACKAGE}[cuda12x]', or [cuda13x] for CUDA 13"
    ]


def _get_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _get_processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf8") as file_:
            names = [line for line in file_ if line.startswith("model name")]
    except OSError:
        names = []
    return names[0].partition(":")[2].strip() if names else platform.processor()
