"""Diagnose the hardware, the installation and possible speed-ups."""

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
    time_products,
)

PACKAGE = "spacy-hashembeds"

#: Instruction sets of which a precision needs one.
_INSTRUCTIONS = {
    "bfloat16": "AVX-512 BF16 or NEON BF16",
    "int8": "AVX-512 VNNI, AVX-VNNI or NEON I8MM",
}

#: Installed version (or None) and required range of each package.
Versions = dict[str, tuple[str | None, str]]

#: OpenBLAS kernels without AVX-512.
_AVX2_KERNELS = ("Haswell", "Zen")
#: C function that only profiled Cython code calls. Names of imported functions are in
#: every binary, stripped or not.
_PROFILING = b"PyThreadState_EnterTracing"


class Gpu(NamedTuple):
    """CuPy's version, and the name of the device or the error."""

    cupy: str | None = None
    device: str | None = None
    error: str | None = None


def examine() -> dict[str, Any]:
    """Examine the machine and the installation. This takes a few seconds.

    RETURNS (dict[str, Any]): "versions": installed and required version per package;
        "machine": hardware; "blas": name, version and kernels of libraries; "speeds":
        GFLOP/s at `blas.SHAPES`; "problems": errors and remedies; "advice": possible
        speed-ups.
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
            "Thinc ops": type(ops).__name__,
            "Kernels": "compiled" if compiled.kernels else "numpy",
            **{f"Products in {name}": describe_support(name) for name in PRECISIONS},
        },
        "blas": blas,
        "speeds": time_products(choices),
        "problems": [*find_problems(versions, gpu)],
        "advice": [*advise_on_machine(blas)],
    }


def describe_support(precision: str) -> str:
    """Name the instructions that a precision uses, or the reason for using float32."""
    if precision != "float32" and (lacking := find_lacking(precision)):
        return f"not supported: needs {lacking}; float32 is used"
    return name_instructions(precision) or "BLAS"


def find_lacking(precision: str) -> str | None:
    """Name what this machine lacks for a precision below float32, if anything."""
    if name_instructions(precision) is not None:
        return None
    return "compiled kernels" if compiled.kernels is None else _INSTRUCTIONS[precision]


def find_versions() -> Versions:
    """Find the versions of requirements and of installed extras."""
    own = distribution(PACKAGE)
    found: Versions = {PACKAGE: (own.version, "")}
    for requirement in map(Requirement, own.requires or ()):
        marker = requirement.marker
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            installed = None
        # skip test tools
        is_extra = installed and not (marker and marker.evaluate({"extra": "test"}))
        if marker is None or is_extra:
            found[requirement.name] = installed, str(requirement.specifier)
    return found


def find_processor() -> str:
    """Return the processor's name, or its architecture."""
    path = Path("/proc/cpuinfo")
    for line in path.read_text("utf8", "replace").split("\n") if path.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def examine_gpu() -> Gpu:
    """Run our kernels with CuPy, if installed."""
    if find_spec("cupy") is None:
        return Gpu()
    try:
        cupy = import_module("cupy")
        try_kernels(cupy)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:  # missing libraries raise various errors
        return Gpu("unknown", error=_describe(e))
    return Gpu(cupy.__version__, name)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def try_kernels(xp: Any) -> None:
    """Run our kernel and a product with CuPy (`xp`), on ones, and check the results."""
    keys, out = xp.zeros((1, 1), dtype="uint64"), xp.zeros((1, 4), dtype="float32")
    ones = xp.ones((2, 4), dtype="float32")
    gather_rows(keys, [Table(ones, Hashing(seed=9, num_hashes=3))], out)
    if float(out.sum()) != 12 or float((ones @ ones.T).sum()) != 16:
        raise ValueError("our kernel or a matrix product gives wrong results")


def describe_missing_kernels() -> str | None:
    """Describe how to get compiled kernels. None if installed or switched off."""
    found, error = compiled.find()
    if found is not None or os.environ.get(compiled.SWITCH) == "0":
        return None
    trouble = f"are not in {Path(compiled.__file__).parent}"
    if error is not None:
        trouble = f"can't be used ({_describe(error)})"
    return (
        f"The compiled kernels {trouble}: numpy does their work, more slowly. If this "
        f"is not the installed copy of {PACKAGE}, run `spacy` instead of `python -m "
        "spacy`, in another folder and without PYTHONPATH. Otherwise install a C++ "
        "compiler and Python's headers, and run in a clone of the project: "
        "pip install --force-reinstall --no-deps --no-cache-dir --editable ."
    )


def is_parser_profiled() -> bool:
    """True if spaCy's parser was compiled with profiling (before Python 3.12)."""
    path = import_module("spacy.ml.parser_model").__file__
    return path is not None and _PROFILING in Path(path).read_bytes()


def find_problems(versions: Versions, gpu: Gpu) -> Iterator[str]:
    """Describe each problem and its remedy."""
    for name, (installed, required) in versions.items():
        if installed is None or not SpecifierSet(required).contains(installed, True):
            yield (
                f"{name} should be {required or 'installed'}, but is "
                f"{installed or 'not installed'}. Try: pip install '{name}{required}'"
            )
    for entry_point in distribution(PACKAGE).entry_points:
        try:
            entry_point.load()
        except Exception as e:  # of any kind, if the installation is broken
            name = f"{entry_point.group}: {entry_point.name}"
            yield f"Can't load {name} ({_describe(e)}). Install {PACKAGE} again."
    if gpu.error is not None:
        yield (
            f"CuPy is installed, but fails ({gpu.error}). Install the build for your "
            f"GPU driver, such as with the extra 'cuda12x' or 'cuda13x' of {PACKAGE}, "
            "or uninstall CuPy."
        )


def advise_on_machine(blas: list[Blas]) -> Iterator[str]:
    """Suggest speed-ups: numpy's BLAS; AVX-512 where OpenBLAS does not use it, such as
    0.3.31 on Zen 5; compiled kernels; a newer Python.
    """
    blis, numpy_blas = blas
    if type(get_current_ops()) is NumpyOps and is_numpy_faster():
        kernels = f" with its {blis.kernels} kernels" if blis.kernels else ""
        yield (
            "numpy's BLAS is faster here than Thinc's default, blis"
            f"{kernels}. Add to a config: [nlp.after_pipeline_creation] "
            '@callbacks = "spacy-hashembeds.use_fastest_blas.v1". For trained '
            "pipelines, `spacy hashembeds accelerate` adds the callback."
        )
    has_avx512 = name_instructions("float32") == "AVX-512"
    if numpy_blas.kernels in _AVX2_KERNELS and has_avx512:
        yield (
            f"numpy's OpenBLAS uses its {numpy_blas.kernels} kernels, although this "
            "processor has AVX-512. Compare the speeds above with the output of "
            "`OPENBLAS_CORETYPE=SKYLAKEX spacy hashembeds doctor`. If they rise, try "
            "this variable with your pipelines; single texts may be slower."
        )
    if os.environ.get(compiled.SWITCH) == "0":
        yield f"Unset {compiled.SWITCH}=0, which turns off the compiled kernels."
    elif missing := describe_missing_kernels():
        yield missing
    if is_parser_profiled():
        yield (
            "spaCy's parser and NER are compiled with profiling for Python "
            f"{platform.python_version()}, which makes them slow. Use 3.12 or later."
        )
