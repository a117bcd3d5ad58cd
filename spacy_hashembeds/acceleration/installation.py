"""Kernels and devices of this installation, and whether they work."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..kernels import compiled
from ..kernels.cuda import gather_rows
from ..kernels.rows import Hashing, Table

PACKAGE = "spacy-hashembeds"

# What code compiled by Cython calls to profile, and for nothing else. A name that is
# imported stands in the file, stripped or not, on every system.
_PROFILING = b"PyThreadState_EnterTracing"


class Gpu(NamedTuple):
    """GPU and CuPy: the name of the device, or the error."""

    cupy: str | None = None
    device: str | None = None
    error: str | None = None


def examine_gpu() -> Gpu:
    """Try our kernels with CuPy, if it is installed."""
    if find_spec("cupy") is None:
        return Gpu()
    try:
        cupy = import_module("cupy")
        try_kernels(cupy)
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as e:  # a library that is missing is no ImportError everywhere
        return Gpu("unknown", error=describe_error(e))
    return Gpu(cupy.__version__, name)


def try_kernels(xp: Any) -> None:
    """Multiply with CuPy (xp), and compile a kernel of ours that sums rows of ones."""
    keys, out = xp.zeros((1, 1), dtype="uint64"), xp.zeros((1, 4), dtype="float32")
    ones = xp.ones((2, 4), dtype="float32")
    gather_rows(keys, [Table(ones, Hashing(seed=9, num_hashes=3))], out)
    if float(out.sum()) != 12 or float((ones @ ones.T).sum()) != 16:
        raise ValueError("the sum of rows by a kernel of ours, or a product, is wrong")


def describe_missing_kernels() -> str | None:
    """Describe how to get compiled kernels, or return None if there are some, or if the
    environment asks for none.
    """
    found, error = compiled.find()
    if found is not None or os.environ.get(compiled.SWITCH) == "0":
        return None
    trouble = f"are not in {Path(compiled.__file__).parent}"
    if error is not None:
        trouble = f"can't be used ({describe_error(error)})"
    return (
        f"The compiled kernels {trouble}: numpy does their work, which takes longer. "
        f"If {PACKAGE} is installed and this is another copy, run `spacy` in the place "
        "of `python -m spacy`, in another folder and without PYTHONPATH. Otherwise "
        "install a C++ compiler and Python's headers, and then in a clone of the "
        "project: pip install --force-reinstall --no-deps --no-cache-dir --editable ."
    )


def is_parser_profiled() -> bool:
    """Return True if spaCy's parser was compiled with profiling: below Python 3.12."""
    file_ = import_module("spacy.ml.parser_model").__file__
    return file_ is not None and _PROFILING in Path(file_).read_bytes()


def describe_error(error: Exception) -> str:
    """Describe an error by its type and message."""
    return f"{type(error).__name__}: {error}"
