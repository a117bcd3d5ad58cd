"""Diagnosis of this machine: its parts, what is broken, and what could be faster."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thinc.api import NumpyOps, get_current_ops

from ..kernels import compiled
from ..kernels.convolution import PRECISIONS, name_instructions
from . import installation
from .blas import (
    BLIS_OPS,
    NUMPY_BLAS_OPS,
    Blas,
    describe_blis,
    describe_numpy_blas,
    is_numpy_faster,
    measure_speeds,
)
from .installation import PACKAGE, Gpu, Version

#: OpenBLAS's names for kernels that know no AVX-512.
_SHORT_VECTORS = ("Haswell", "Zen")


@dataclass(frozen=True)
class Health:
    """All that was found."""

    versions: list[Version]
    processor: str
    python: str
    parser_profiled: bool
    #: The name of Thinc's operations, and the libraries: blis and numpy's.
    ops: str
    blas: list[Blas]
    #: GFLOP/s of each of these, and of other operations, at each of `blas.SHAPES`.
    speeds: dict[str, list[float]]
    #: True if compiled kernels are in use, and the instructions of each precision.
    compiled: bool
    instructions: dict[str, str | None]
    gpu: Gpu
    problems: list[str]
    untested: list[str]
    advice: list[str]


def examine() -> Health:
    """Examine the machine and the installation. Takes a few seconds."""
    versions, gpu = installation.find_versions(), installation.examine_gpu()
    choices, ops = {"blis": BLIS_OPS, "numpy's BLAS": NUMPY_BLAS_OPS}, get_current_ops()
    if type(ops) is not NumpyOps and isinstance(ops, NumpyOps):
        choices[type(ops).__name__] = ops
    blas, profiled = (
        [describe_blis(), describe_numpy_blas()],
        installation.is_parser_profiled(),
    )
    return Health(
        versions=versions,
        processor=find_processor(),
        python=platform.python_version(),
        parser_profiled=profiled,
        ops=type(ops).__name__,
        blas=blas,
        speeds=measure_speeds(choices),
        compiled=compiled.kernels is not None,
        instructions={name: name_instructions(name) for name in PRECISIONS[1:]},
        gpu=gpu,
        problems=find_problems(versions, installation.check_entry_points(), gpu),
        untested=list(installation.find_untested(versions)),
        advice=[*advise_on_speed(blas), *advise_on_installation(profiled, gpu)],
    )


def find_processor() -> str:
    """Find the processor's name, or no more than its kind."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf8", "replace").splitlines() if path.is_file() else ()
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def find_problems(
    versions: list[Version], entry_points: dict[str, str], gpu: Gpu
) -> list[str]:
    """Describe what is broken and how to mend it."""
    problems = [
        f"{v.name} should be {v.required or 'installed'}, but is "
        f"{v.installed or 'not installed'}. Try: pip install '{v.name}{v.required}'"
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


def advise_on_speed(blas: list[Blas]) -> Iterator[str]:
    """Advise another BLAS if it would be faster for pipelines on the CPU, AVX-512 where
    OpenBLAS does not know the processor, as 0.3.31 does not know Zen 5, and kernels.
    """
    if type(get_current_ops()) is NumpyOps and is_numpy_faster():
        kernels = f" with its {blas[0].kernels} kernels" if blas[0].kernels else ""
        yield (
            "Matrix products are faster with numpy's BLAS than with blis, which Thinc "
            f"uses here{kernels}. Write into a config: [nlp.after_pipeline_creation] "
            '@callbacks = "spacy-hashembeds.use_fastest_blas.v1". `spacy hashembeds '
            "accelerate` does so for a trained pipeline."
        )
    has_avx512 = name_instructions("float32") == "AVX-512"
    if blas[1].kernels in _SHORT_VECTORS and has_avx512:
        yield (
            f"numpy's OpenBLAS uses its {blas[1].kernels} kernels on a processor that "
            "has AVX-512. Compare the products above with those of: "
            "OPENBLAS_CORETYPE=SKYLAKEX spacy hashembeds doctor. If they are faster, "
            "try this variable with your pipelines: one text a call may be slower."
        )
    if os.environ.get(compiled.SWITCH) == "0":
        yield f"Without {compiled.SWITCH}=0 in the environment, kernels are compiled."
    elif missing := installation.describe_missing_kernels():
        yield missing


def advise_on_installation(parser_profiled: bool, gpu: Gpu) -> Iterator[str]:
    """Advise wheels that are compiled without profiling, and CuPy for a GPU."""
    if parser_profiled:
        yield (
            "spaCy's parser and NER were compiled with profiling for this Python, "
            f"{platform.python_version()}, and take Python's lock at every call of "
            "their loop over states. spaCy's wheels for Python 3.12 and later do not: "
            "in our benchmark, NER took less than a quarter of the time there in "
            "nlp.pipe, and nine tenths in nlp.update. Other layers gain nothing."
        )
    if gpu.cupy is None and shutil.which("nvidia-smi") is not None:
        yield (
            "There seems to be an NVIDIA GPU, but CuPy is not installed. To use it: "
            f"pip install '{PACKAGE}[cuda12x]', or [cuda13x] for CUDA 13"
        )
