"""Diagnosis of this machine: its parts, what is broken, and what could be faster."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from thinc.api import NumpyOps, Ops, get_current_ops

from ..kernels.convolution import name_instructions
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
from .machine import Spread, find_disturbances, find_spread, find_width, watch_machine

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Names of the choices that the speeds are measured of.
_BLIS = "blis"
_NUMPY = "numpy's BLAS, one thread"

#: OpenBLAS's names for kernels that know no AVX-512.
_SHORT_VECTORS = ("Haswell", "Zen")


@dataclass(frozen=True)
class Health:
    """All that was found. Speeds are in GFLOP/s, of each library at each shape: the
    median of rounds that take turns, and their quartiles.
    """

    versions: list[Version]
    processor: str
    cores: int
    ops: str
    blas: list[Blas]
    shapes: tuple[Shape, ...]
    speeds: dict[str, list[Spread]]
    kernels: Kernels
    #: What speaks against these measurements.
    disturbances: list[str]
    threads: dict[str, str]
    python: str
    parser_profiled: bool
    gpu: Gpu
    problems: list[str]
    untested: list[str]
    advice: list[str]


def examine() -> Health:
    """Examine the machine and the installation. Takes a few seconds."""
    versions = installation.find_versions()
    blas = [describe_blis(), describe_numpy_blas()]
    with watch_machine() as machine:
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
        disturbances=find_disturbances(machine, _find_widest(speeds)),
        threads={key: os.environ[key] for key in THREAD_VARIABLES if key in os.environ},
        python=platform.python_version(),
        parser_profiled=profiled,
        gpu=gpu,
        problems=find_problems(versions, installation.check_entry_points(), gpu),
        untested=list(installation.find_untested(versions)),
        advice=[
            *advise_on_blas(blas, speeds),
            *advise_on_openblas(blas[1], name_instructions("float32")),
            *advise_on_kernels(kernels),
            *advise_on_python(profiled),
            *advise_on_gpu(gpu),
        ],
    )


def _find_widest(speeds: dict[str, list[Spread]]) -> dict[str, Spread]:
    """Find the measurement that varied most."""
    found = [(f"products ({name})", one) for name, row in speeds.items() for one in row]
    return dict([max(found, key=lambda each: find_width(each[1]))])


def measure_choices(threads: int | None) -> dict[str, list[Spread]]:
    """Measure each BLAS at `blas.SHAPES`, in GFLOP/s, numpy's with its threads too."""
    speeds = _measure({_BLIS: BLIS_OPS, _NUMPY: NUMPY_BLAS_OPS})
    if threads and threads > 1:
        # not in turns with the others: its threads go on waiting for work for a while
        name = f"numpy's BLAS, {threads} threads"
        speeds |= _measure({name: NumpyOps(use_blis=False)})
    ops = get_current_ops()
    if type(ops) is not NumpyOps and isinstance(ops, NumpyOps):
        speeds |= _measure({type(ops).__name__: ops})
    return speeds


def _measure(choices: dict[str, Ops]) -> dict[str, list[Spread]]:
    measured = measure_speeds(choices).items()
    return {name: [find_spread(rounds) for rounds in row] for name, row in measured}


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


def advise_on_blas(blas: list[Blas], speeds: dict[str, list[Spread]]) -> list[str]:
    """Advise another BLAS if it would be faster for pipelines on the CPU."""
    if type(get_current_ops()) is not NumpyOps:
        return []
    # only if the callback would choose it too, which measures smaller products
    own, blis = ([one[0] for one in speeds[name]] for name in (_NUMPY, _BLIS))
    if not (is_faster(own, blis) and is_numpy_faster()):
        return []
    ratios = sorted(a / b for a, b in zip(own, blis, strict=True))
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


def advise_on_openblas(blas: Blas, instructions: str | None) -> Iterator[str]:
    """Say how to have AVX-512 where OpenBLAS does not know the processor, as 0.3.31, of
    numpy 2.4, does not know Zen 5.
    """
    if blas.kernels in _SHORT_VECTORS and instructions == "AVX-512":
        yield (
            f"numpy's OpenBLAS uses its {blas.kernels} kernels on a processor that has "
            "AVX-512. Compare the products above with those of: "
            "OPENBLAS_CORETYPE=SKYLAKEX spacy hashembeds doctor. If they are faster, "
            "try this variable with your pipelines: one text a call may be slower."
        )


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
