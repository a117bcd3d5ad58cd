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
INTERFACE = 3


def read_switch(name: str, purpose: str) -> bool:
    """Read an environment variable that is 1, as by default, or 0.

    RAISES (ValueError): If it is something else.
    """
    value = os.environ.get(name) or "1"
    if value not in ("0", "1"):
        raise ValueError(
            f"The environment variable {name} should be 1, {purpose}, or 0, but is "
            f"{value!r}."
        )
    return value == "1"


def load() -> Any:
    """Load the compiled kernels, or None if they are not there or not wanted."""
    purpose = "for compiled kernels to be used where there are any"
    return find() if read_switch(SWITCH, purpose) else None


def find() -> Any:
    """Find the compiled kernels, or None if they are not there, or can't be used."""
    try:
        return _import()
    except Exception:  # numpy does their work: the doctor says what is wrong
        return None


def find_error() -> Exception | None:
    """Find out why the compiled kernels can't be used, if they are there."""
    try:
        _import()
    except Exception as error:
        return None if isinstance(error, ModuleNotFoundError) else error
    return None


def _import() -> Any:
    module = import_module("._compiled", __package__)
    if getattr(module, "INTERFACE", None) != INTERFACE:
        raise ImportError("they were compiled of other sources")
    return module


_FLOAT = np.dtype("float32")

#: The compiled kernels that are used, or None.
kernels: Any = load()


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
