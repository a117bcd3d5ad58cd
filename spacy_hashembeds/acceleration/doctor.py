"""What the package finds on this machine, what is broken, and what could be faster."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from thinc.api import NumpyOps, get_current_ops

from ..systems import count_cores, find_processor
from . import installation
from .blas import (
    BLIS_OPS,
    NUMPY_BLAS_OPS,
    SHAPES,
    Blas,
    Shape,
    describe_blis,
    describe_numpy_blas,
    is_faster,
    is_numpy_faster,
    measure_speeds,
)
from .compilation import Kernels, advise_on_kernels, examine_kernels
from .installation import PACKAGE, Gpu, Version

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Names of the choices that the speeds are measured of.
_BLIS = "blis"
_NUMPY = "numpy's BLAS, one thread"


@dataclass(frozen=True)
class Health:
    """All that was found. Speeds are in GFLOP/s, of each library at each shape."""

    versions: list[Version]
    processor: str
    cores: int
    ops: str
    blas: list[Blas]
    shapes: tuple[Shape, ...]
    speeds: dict[str, list[float]]
    kernels: Kernels
    threads: dict[str, str]
    python: str
    parser_profiled: bool
    gpu: Gpu
    problems: list[str]
    untested: list[str]
    advice: list[str]


def examine() -> Health:
    """Examine the machine and the installation. Takes about two seconds."""
    versions = installation.find_versions()
    blas = [describe_blis(), describe_numpy_blas()]
    speeds = measure_choices(blas[1].threads)
    kernels = examine_kernels()
    gpu = installation.examine_gpu()
    profiled = installation.is_parser_profiled()
    return Health(
        versions=versions,
        processor=find_processor(),
        cores=count_cores(),
        ops=type(get_current_ops()).__name__,
        blas=blas,
        shapes=SHAPES,
        speeds=speeds,
        kernels=kernels,
        threads={key: os.environ[key] for key in THREAD_VARIABLES if key in os.environ},
        python=platform.python_version(),
        parser_profiled=profiled,
        gpu=gpu,
        problems=find_problems(versions, installation.check_entry_points(), gpu),
        untested=list(installation.find_untested(versions)),
        advice=[
            *advise_on_blas(blas, speeds),
            *advise_on_kernels(kernels),
            *advise_on_python(profiled),
            *advise_on_gpu(gpu),
        ],
    )


def measure_choices(threads: int | None) -> dict[str, list[float]]:
    """Measure each BLAS at `blas.SHAPES`, in GFLOP/s, numpy's with its threads too."""
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
    """Advise another BLAS if it would be faster for pipelines on the CPU."""
    if type(get_current_ops()) is not NumpyOps:
        return []
    # only if the callback would choose it too, which measures smaller products
    if not (is_faster(speeds[_NUMPY], speeds[_BLIS]) and is_numpy_faster()):
        return []
    pairs = zip(speeds[_NUMPY], speeds[_BLIS], strict=True)
    ratios = sorted(own / blis for own, blis in pairs)
    kernels = blas[0].kernels
    return [
        f"Matrix products are {ratios[0]:.1f} to {ratios[-1]:.1f} times as fast with "
        f"numpy's BLAS as with blis, which Thinc uses here"
        f"{f' with its {kernels} kernels' if kernels else ''}. Write into a config: "
        "[nlp.after_pipeline_creation] @callbacks = "
        '"spacy-hashembeds.use_fastest_blas.v1". `spacy hashembeds accelerate` does so '
        "for a trained pipeline. ([nlp.before_creation] also takes all pipelines that "
        "the same thread loads later.)"
    ]


def advise_on_python(parser_profiled: bool) -> Iterator[str]:
    """Say that the parser is faster in wheels that are compiled without profiling."""
    if parser_profiled:
        yield (
            "spaCy's parser and NER were compiled with profiling for this Python, "
            f"{platform.python_version()}, and take Python's lock at every call of "
            "their loop over states. spaCy's wheels for Python 3.12 and later do not: "
            "in our benchmark, NER took less than a quarter of the time there in "
            "nlp.pipe, and nine tenths in nlp.update. Other layers gain nothing."
        )


def advise_on_gpu(gpu: Gpu) -> Iterator[str]:
    """Say how to use a GPU that seems to be there."""
    if gpu.cupy is None and shutil.which("nvidia-smi") is not None:
        yield (
            "There seems to be an NVIDIA GPU, but CuPy is not installed. To use it: "
            f"pip install '{PACKAGE}[cuda12x]', or [cuda13x] for CUDA 13"
        )
