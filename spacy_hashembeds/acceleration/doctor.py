"""Diagnose this machine: its hardware, broken installations, and possible speed-ups."""

import os
import platform
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from thinc.api import NumpyOps, get_current_ops

from ..kernels import compiled
from ..kernels.convolution import PRECISIONS, name_instructions
from ..kernels.cuda import gather_rows
from ..kernels.rows import Hashing, Table
from .blas import (
    BLIS_OPS,
    NUMPY_BLAS_OPS,
    Blas,
    describe_libraries,
    is_numpy_faster,
    measure_speeds,
)

PACKAGE = "spacy-hashembeds"

#: For each package, the installed version (or None) and the range that we require.
Versions = dict[str, tuple[str | None, str]]

#: OpenBLAS's names for kernels that do not use AVX-512.
_SHORT_VECTORS = ("Haswell", "Zen")
#: C function that code compiled by Cython calls only for profiling. The name of an
#: imported function is in the binary file, stripped or not, on every system.
_PROFILING = b"PyThreadState_EnterTracing"


class Gpu(NamedTuple):
    """GPU and CuPy: the name of the device, or the error."""

    cupy: str | None = None
    device: str | None = None
    error: str | None = None


def examine() -> dict[str, Any]:
    """Examine the machine and the installation. This takes a few seconds.

    RETURNS (dict[str, Any]): "versions": the installed and required version of each
        package; "machine": hardware; "blas": name, version and kernels of libraries;
        "speeds": GFLOP/s of each at `blas.SHAPES`; "problems": errors, and how to fix
        them; "advice": possible speed-ups.
    """
    versions, gpu, ops = find_versions(), examine_gpu(), get_current_ops()
    choices = {"blis": BLIS_OPS, "numpy's BLAS": NUMPY_BLAS_OPS}
    if type(ops) is not NumpyOps and isinstance(ops, NumpyOps):
        choices[type(ops).__name__] = ops
    blas = describe_libraries()
    return {
        "versions": versions,
        "machine": {
            "Processor": find_processor(),
            "GPU": gpu.device or "none in use",
            "CuPy": gpu.cupy or "none",
            "Python": platform.python_version(),
            "Thinc's operations": type(ops).__name__,
            "Kernels of our layers": "compiled" if compiled.kernels else "numpy",
            **{
                f"Products of {name}": name_instructions(name) or "in float32"
                for name in PRECISIONS[1:]
            },
        },
        "blas": blas,
        "speeds": measure_speeds(choices),
        "problems": [*find_problems(versions, gpu)],
        "advice": [*advise(blas)],
    }


def find_versions() -> Versions:
    """Find the versions of our requirements, and of the extras that are installed."""
    own = distribution(PACKAGE)
    found: Versions = {PACKAGE: (own.version, "")}
    for requirement in map(Requirement, own.requires or ()):
        marker = requirement.marker
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            installed = None
        # users do not need the tools of the tests
        is_extra = installed and not (marker and marker.evaluate({"extra": "test"}))
        if marker is None or is_extra:
            found[requirement.name] = installed, str(requirement.specifier)
    return found


def find_processor() -> str:
    """Find the processor's name, or else its architecture."""
    path = Path("/proc/cpuinfo")
    for line in path.read_text("utf8", "replace").split("\n") if path.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def examine_gpu() -> Gpu:
    """Try our kernels with CuPy, if it is installed."""
    if find_spec("cupy") is None:
        return Gpu()
    try:
        cupy = import_module("cupy")
        try_kernels(cupy)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:  # a missing library does not always raise ImportError
        return Gpu("unknown", error=_describe(e))
    return Gpu(cupy.__version__, name)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def try_kernels(xp: Any) -> None:
    """Multiply with CuPy (xp), and compile and run our kernel on a table of ones."""
    keys, out = xp.zeros((1, 1), dtype="uint64"), xp.zeros((1, 4), dtype="float32")
    ones = xp.ones((2, 4), dtype="float32")
    gather_rows(keys, [Table(ones, Hashing(seed=9, num_hashes=3))], out)
    if float(out.sum()) != 12 or float((ones @ ones.T).sum()) != 16:
        raise ValueError("the sum of rows by a kernel of ours, or a product, is wrong")


def describe_missing_kernels() -> str | None:
    """Describe how to get compiled kernels. Return None if they are installed, or if
    the environment turns them off.
    """
    found, error = compiled.find()
    if found is not None or os.environ.get(compiled.SWITCH) == "0":
        return None
    trouble = f"are not in {Path(compiled.__file__).parent}"
    if error is not None:
        trouble = f"can't be used ({_describe(error)})"
    return (
        f"The compiled kernels {trouble}: numpy does their work, which takes longer. "
        f"If {PACKAGE} is installed and this is another copy, run `spacy` in the place "
        "of `python -m spacy`, in another folder and without PYTHONPATH. Otherwise "
        "install a C++ compiler and Python's headers, and then in a clone of the "
        "project: pip install --force-reinstall --no-deps --no-cache-dir --editable ."
    )


def is_parser_profiled() -> bool:
    """Return True if spaCy's parser was compiled with profiling, before Python 3.12."""
    path = import_module("spacy.ml.parser_model").__file__
    return path is not None and _PROFILING in Path(path).read_bytes()


def find_problems(versions: Versions, gpu: Gpu) -> Iterator[str]:
    """Describe each problem and how to fix it."""
    for name, (installed, required) in versions.items():
        if installed is None or not SpecifierSet(required).contains(installed, True):
            yield (
                f"{name} should be {required or 'installed'}, but is "
                f"{installed or 'not installed'}. Try: pip install '{name}{required}'"
            )
    for entry_point in distribution(PACKAGE).entry_points:
        try:
            entry_point.load()
        except Exception as e:  # a broken installation may raise any error
            name = f"{entry_point.group}: {entry_point.name}"
            yield f"Can't load {name} ({_describe(e)}). Install {PACKAGE} again."
    if gpu.error is not None:
        yield (
            f"CuPy is installed, but can't be used ({gpu.error}). Install the one that "
            "fits the driver of your GPU, such as by the extra 'cuda12x' or 'cuda13x' "
            f"of {PACKAGE}, or remove it."
        )


def advise(blas: list[Blas]) -> Iterator[str]:
    """Suggest speed-ups: another BLAS; AVX-512 if OpenBLAS does not know the processor,
    as 0.3.31 does not know Zen 5; compiled kernels; another Python.
    """
    blis, numpy_blas = blas
    if type(get_current_ops()) is NumpyOps and is_numpy_faster():
        kernels = f" with its {blis.kernels} kernels" if blis.kernels else ""
        yield (
            "Matrix products are faster with numpy's BLAS than with blis, which Thinc "
            f"uses here{kernels}. Write into a config: [nlp.after_pipeline_creation] "
            '@callbacks = "spacy-hashembeds.use_fastest_blas.v1". `spacy hashembeds '
            "accelerate` does so for a trained pipeline."
        )
    has_avx512 = name_instructions("float32") == "AVX-512"
    if numpy_blas.kernels in _SHORT_VECTORS and has_avx512:
        yield (
            f"numpy's OpenBLAS uses its {numpy_blas.kernels} kernels on a processor "
            "that has AVX-512. Compare the products above with those of: "
            "OPENBLAS_CORETYPE=SKYLAKEX spacy hashembeds doctor. If they are faster, "
            "try this variable with your pipelines: one text a call may be slower."
        )
    if os.environ.get(compiled.SWITCH) == "0":
        yield f"Without {compiled.SWITCH}=0 in the environment, kernels are compiled."
    elif missing := describe_missing_kernels():
        yield missing
    if is_parser_profiled():
        yield (
            "spaCy's parser and NER were compiled with profiling for this Python, "
            f"{platform.python_version()}. spaCy's wheels for Python 3.12 and later "
            "are not: in our benchmark, NER took less than a quarter of the time there."
        )
