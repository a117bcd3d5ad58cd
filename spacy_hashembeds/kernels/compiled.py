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

#: Environment variable that turns compiled kernels on or off. If it is 0 when the
#: package is installed, none are compiled.
SWITCH = "SPACY_HASHEMBEDS_COMPILED"

#: Version of the kernels' arguments and structs: a checkout may hold a module that was
#: compiled from other sources.
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


_PURPOSE = "for compiled kernels to be used where there are any"

#: Compiled kernels in use, or None.
kernels: Any = find()[0] if read_switch(SWITCH, _PURPOSE) else None


@contextmanager
def using(chosen: Any) -> Iterator[None]:
    """Use other kernels, or with None numpy alone, in the whole process, to compare."""
    global kernels
    before, kernels = kernels, chosen
    try:
        yield
    finally:
        kernels = before
