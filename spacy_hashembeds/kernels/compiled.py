"""The compiled kernels, if available.

`pip install` compiles `_compiled.pyx` if possible. Without the compiled module, or if
an environment variable disables it, slower numpy code is used. Kernels require float32
arrays that are C-contiguous and aligned.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

#: Environment variable that enables (1) or disables (0) compiled kernels. If it is 0
#: during installation, they are not compiled.
SWITCH = "SPACY_HASHEMBEDS_COMPILED"

#: Version of the kernels' arguments and structs, to detect an outdated compiled module.
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
            raise ImportError("they were compiled from other sources")
    except ModuleNotFoundError:
        return None, None
    except Exception as error:  # reported by the doctor
        return None, error
    return module, None


_PURPOSE = "to use compiled kernels if available"

#: Compiled kernels in use, or None.
kernels: Any = find()[0] if read_switch(SWITCH, _PURPOSE) else None


@contextmanager
def using(chosen: Any) -> Iterator[None]:
    """Use other kernels, or only numpy (None), in the whole process."""
    global kernels
    before, kernels = kernels, chosen
    try:
        yield
    finally:
        kernels = before
