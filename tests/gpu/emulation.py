"""The kernels of `embed.cu`, compiled for the CPU: see `emulated_cuda.h`."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest
from thinc.api import CupyOps, NumpyOps

from spacy_hashembeds.kernels import cuda, rows

HERE = Path(__file__).parent


def compile_kernels(folder: Path) -> dict[str, ctypes.CDLL]:
    """Compile a library for each vector, or skip the test without a compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++ to compile the kernels for the CPU")
    options = ["-std=c++20", "-O1", "-Wall", "-Werror", "-Wno-unknown-pragmas"]
    options += ["-shared", "-fPIC", f"-I{cuda.SOURCE.parent}"]
    source = str(HERE / "emulated_embed.cpp")
    libraries = {}
    for vector in ("float", "float4"):
        library = str(folder / f"embed_{vector}.so")
        command = [compiler, *options, f"-DVector={vector}", source, "-o", library]
        subprocess.run(command, check=True)
        libraries[vector] = ctypes.CDLL(library)
    return libraries


class EmulatedOps(NumpyOps):
    """Ops that layers treat as a GPU's."""


def emulate(
    patch: pytest.MonkeyPatch, libraries: dict[str, ctypes.CDLL]
) -> EmulatedOps:
    """Make the launcher run the libraries' kernels, and return the ops to use."""
    patch.setattr(cuda, "get_kernel", partial(get_kernel, libraries))
    patch.setattr(rows, "_GPU_OPS", (CupyOps, EmulatedOps))
    # fewer than on a GPU, so that small inputs fill several blocks
    patch.setattr(cuda, "THREADS", 8)
    return EmulatedOps()


def get_kernel(
    libraries: dict[str, ctypes.CDLL], name: str, vector: str
) -> Callable[..., None]:
    """Return a kernel that is called like CuPy's, with arrays of numpy."""
    library = libraries[vector]
    get_sizes = getattr(library, f"get_sizes_{name}")
    get_sizes.restype = ctypes.c_size_t
    sizes = (ctypes.c_size_t * 32)()
    count = get_sizes(sizes)
    return partial(_launch, getattr(library, f"launch_{name}"), sizes[:count])


def _launch(
    launch: Callable[..., None],
    sizes: list[int],
    grid: tuple[int],
    block: tuple[int],
    args: tuple[Any, ...],
) -> None:
    values = [_as_argument(arg) for arg in args]
    assert [value.nbytes for value in values] == sizes, "not the kernel's arguments"
    addresses = (ctypes.c_void_p * len(values))(*(v.ctypes.data for v in values))
    launch(ctypes.c_uint(grid[0]), ctypes.c_uint(block[0]), addresses)


def _as_argument(arg: Any) -> numpy.ndarray:
    """Return the argument that CUDA would get, an address or a value, as an array."""
    if isinstance(arg, numpy.ndarray) and arg.dtype.names is None:
        return numpy.array([arg.ctypes.data], dtype="uint64")
    if isinstance(arg, numpy.generic):
        return numpy.array([arg])
    # some versions of CuPy do not accept None
    assert isinstance(arg, numpy.ndarray), f"CuPy would convert {arg!r}"
    assert arg.size == 1, "CuPy passes only arrays of numpy with one element"
    return arg
