"""Know whether parameters can have changed since they were last looked at.

What is computed from parameters may be kept only as long as nobody changes them, in
place or otherwise. Whoever wants to do so must first get them from the model, or hold
on to them from before: the first is counted, the second is seen by their reference
counts. Both take no time to speak of, whatever the size of the parameters.
"""

import sys
from collections.abc import Sequence
from typing import Any, cast

from numpy.typing import NDArray
from thinc.api import Model
from thinc.backends import ParamServer
from thinc.types import FloatsXd

#: Whether reference counts are exact: in CPython, with its global lock.
COUNTS_REFERENCES = (
    sys.implementation.name == "cpython"
    and getattr(sys, "_is_gil_enabled", lambda: True)()
)


class WatchedParams(ParamServer):
    """Thinc's store for the parameters of a layer, counting accesses from outside."""

    accesses: int

    def get_param(self, model_id: int, name: str) -> FloatsXd:
        """Get a parameter, which the caller may change or keep."""
        self.accesses += 1
        return super().get_param(model_id, name)

    def set_param(self, model_id: int, name: str, value: FloatsXd) -> None:
        """Replace a parameter."""
        self.accesses += 1
        super().set_param(model_id, name, value)

    def peek(self, model_id: int, name: str) -> NDArray:
        """Get a parameter, to read it now and let go of it."""
        return cast(NDArray, super().get_param(model_id, name))


def watch(model: Model) -> WatchedParams:
    """Get the watched parameters of one layer, watching them from now on.

    Copies, unpickled models and new ones have plain stores, so this is asked of each
    layer each time. A store with a proxy (remote parameters) can't be watched.
    """
    params = model._params
    if not isinstance(params, WatchedParams):
        watched = WatchedParams(params._params, params._grads, proxy=params.proxy)
        watched.accesses = 0
        model._params = params = watched
    return params


def peek(model: Model, name: str) -> NDArray:
    """Read a parameter of a layer without it counting as an access.

    RAISES (KeyError): If it has no such parameter yet, as Thinc does.
    """
    if not model.has_param(name):
        return cast(NDArray, model.get_param(name))
    return watch(model).peek(model.id, name)


def count_accesses(models: Sequence[Model]) -> list[tuple[WatchedParams, int]]:
    """Say which stores the layers have and how often each was accessed."""
    stores = [watch(model) for model in models]
    return [(store, store.accesses) for store in stores]


def is_shared(models: Sequence[Model]) -> bool:
    """Tell whether anybody but the layers themselves can change their parameters."""
    if not COUNTS_REFERENCES:
        return True
    for model in models:
        store = watch(model)
        if store.proxy is not None:
            return True
        for array in store._params.values():
            # the store, this loop's variable, and the argument
            if sys.getrefcount(array) > 3 or _has_shared_base(cast(NDArray, array)):
                return True
            if _is_lent(array):
                return True
    return False


def _has_shared_base(array: NDArray) -> bool:
    """Tell whether the memory that an array shows a part of is in other hands too."""
    base = array.base
    if isinstance(base, type(array)):
        # the array, this variable, and the argument
        return sys.getrefcount(base) > 3 or _has_shared_base(base)
    # a memory map, or bytes: fine if it is for reading only
    return base is not None and array.flags.writeable


def _is_lent(array: Any) -> bool:
    """Tell whether memory on a GPU is another library's too, such as torch's."""
    memory = getattr(array.data, "mem", None)  # CuPy's
    if type(memory).__name__ == "DLPackMemory":
        return True
    # Thinc can have CuPy take all memory from torch: then nobody else holds it
    owner = getattr(memory, "_owner", None)
    # the memory, this variable, and the argument
    return owner is not None and sys.getrefcount(owner) > 3
