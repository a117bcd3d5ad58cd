"""How many threads numpy's matrix products take."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Have numpy's BLAS use one thread, if it is OpenBLAS, in the whole process.

    OpenBLAS would start a thread for each core, and they wait for each other: where
    other processes use the cores, such as those of `n_process`, one is faster.
    """
    get_threads = find_openblas("get_num_threads", ctypes.c_int)
    set_threads = find_openblas("set_num_threads", None)
    before = get_threads() if get_threads and set_threads else 1
    # Who finds one thread restores nothing: Python threads may come and go in any order
    if set_threads is None or before == 1:
        yield
        return
    set_threads(1)
    try:
        yield
    finally:
        set_threads(before)


@cache
def find_openblas(name: str, restype: Any) -> Callable[..., Any] | None:
    """Find a C function of the OpenBLAS that numpy brings, or None."""
    # numpy's wheels bring a build of their own, whose names have both affixes
    names = (f"{a}openblas_{name}{z}" for a in ("scipy_", "") for z in ("64_", ""))
    return find_function("numpy._core._multiarray_umath", list(names), restype)


def find_function(
    module: str, names: Sequence[str], restype: Any
) -> Callable[..., Any] | None:
    """Find a C function in an extension module or in the libraries that it links."""
    try:
        library = ctypes.CDLL(import_module(module).__file__)
    except (ImportError, OSError):
        return None
    for name in names:
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype = restype
            return function
    return None
