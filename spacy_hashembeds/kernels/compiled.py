"""The compiled kernels, if available.

`pip install` compiles `_compiled.pyx` if it can. Without the compiled module, or if an
environment variable turns it off, numpy does the same, slower. Kernels take float32
arrays that are C-contiguous and aligned.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

#: Environment variable that turns compiled kernels on or off. If it is 0 during
#: installation, they are not compiled.
SWITCH = "SPACY_HASHEMBEDS_COMPILED"

#: Version of the kernels' arguments and structs: the compiled module in a checkout may
#: be older than its sources.
INTERFACE = 11


def read_switch(name: str, purpose: str) -> bool:
    """Read an environment variable that must be 1 (the default) or 0."""
    value = os.environ.get(name) or "1"
    if value not in ("0", "1"):
        raise ValueError(
            f"The environment variable {name} should be 1, {purpose}, or 0, but is "
            f"{value!r}."
        )
    return value == "1"


def find() -> tuple[Any, Exception | None]:
    """Return the compiled kernels, or None, and the error if they can't be loaded."""
    try:
        module = import_module("._compiled", __package__)
        if getattr(module, "INTERFACE", None) != INTERFACE:
            raise ImportError("they were compiled of other sources")
    except ModuleNotFoundError:
        return None, None
    except Exception as error:  # numpy is used instead; the doctor reports the error
        return None, error
    return module, None


_PURPOSE = "for compiled kernels to be used where there are any"

#: Compiled kernels in use, or None.
kernels: Any = find()[0] if read_switch(SWITCH, _PURPOSE) else None


@contextmanager
def using(chosen: Any) -> Iterator[None]:
    """Use other kernels, or only numpy (None), in the whole process, to compare."""
    global kernels
    before, kernels = kernels, chosen
    try:
        yield
    finally:
        kernels = before
