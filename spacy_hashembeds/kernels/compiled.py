"""The compiled kernels, where there are any.

`pip install` compiles `_compiled.pyx` if it can. Numpy does the same, slower, where it
could not, or where the environment says so. Kernels take arrays of float32 that lie in
memory without gaps, at addresses that the processor takes numbers of their size from.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: The name of the environment variable that says whether compiled kernels are used. If
#: it is 0 when the package is installed, none are compiled.
SWITCH = "SPACY_HASHEMBEDS_COMPILED"

#: Another number whenever kernels take other arguments, or structs of another layout:
#: one that was compiled of other sources may lie in a checkout.
INTERFACE = 11


def read_switch(name: str, purpose: str) -> bool:
    """Read an environment variable that must be 1, as by default, or 0."""
    value = os.environ.get(name) or "1"
    if value not in ("0", "1"):
        raise ValueError(
            f"The environment variable {name} should be 1, {purpose}, or 0, but is "
            f"{value!r}."
        )
    return value == "1"


def find() -> tuple[Any, Exception | None]:
    """Find the compiled kernels, or None and why those that are there can't be used."""
    try:
        module = import_module("._compiled", __package__)
        if getattr(module, "INTERFACE", None) != INTERFACE:
            raise ImportError("they were compiled of other sources")
    except ModuleNotFoundError:
        return None, None
    except Exception as error:  # numpy does their work: the doctor says what is wrong
        return None, error
    return module, None


_FLOAT = np.dtype("float32")
_PURPOSE = "for compiled kernels to be used where there are any"

#: The compiled kernels that are used, or None.
kernels: Any = find()[0] if read_switch(SWITCH, _PURPOSE) else None


def get_for(*arrays: NDArray) -> Any:
    """Get the kernels if they take these arrays, or None."""
    for array in arrays:
        flags = array.flags
        if not (array.dtype == _FLOAT and flags.c_contiguous and flags.aligned):
            return None
    return kernels


def lay_out(array: NDArray, dtype: DTypeLike) -> NDArray:
    """Get an array as kernels take it: a copy if it is of another type or layout."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy()


@contextmanager
def using(chosen: Any) -> Iterator[None]:
    """Use other kernels, or with None numpy alone, in the whole process, to compare."""
    global kernels
    before, kernels = kernels, chosen
    try:
        yield
    finally:
        kernels = before
