"""Know whether parameters can have changed since they were last looked at.

What is computed from parameters may be kept only as long as nobody changes them, in
place or otherwise. Whoever wants to do so must first get them from the model, or hold
on to them from before: the first is counted, the second is seen by their reference
counts. Both take no time to speak of, whatever the size of the parameters. Only a weak
reference to a parameter is neither.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, is_
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.backends import ParamServer
from thinc.types import FloatsXd


def count_references(items: Iterable[Any]) -> list[int]:
    """Count the references to each item, those of this function among them."""
    return [sys.getrefcount(item) for item in items]


def measure_references() -> int | None:
    """Measure what is counted of an item that its container alone holds.

    Which references of a function are counted differs between versions of Python.
    RETURNS (int, optional): The count, or None if others' references don't show.
    """
    if sys.implementation.name != "cpython":
        return None
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None  # threads count for themselves
    items = [np.zeros(1)]
    (alone,) = count_references(items)
    held = items[0]
    (shared,) = count_references(items)
    del held
    return alone if shared == alone + 1 else None


#: What is counted of an array that nobody else holds, or None where it can't be told.
ALONE = measure_references()


class WatchedParams(ParamServer):
    """Thinc's store for the parameters of a layer, counting accesses from outside.

    accesses (int): How often a parameter was got or set.
    arrivals (int): How often a parameter came from elsewhere. Optimizers change what
        is there.
    checked (tuple, optional): What `check_once` has checked last.
    """

    accesses: int = 0
    arrivals: int = 0
    checked: tuple | None = None

    def get_param(self, model_id: int, name: str) -> FloatsXd:
        """Get a parameter, which the caller may change or keep."""
        self.accesses += 1
        return super().get_param(model_id, name)

    def set_param(self, model_id: int, name: str, value: FloatsXd) -> None:
        """Replace a parameter."""
        self.accesses += 1
        self.arrivals += not _is_same_memory(self._params.get((model_id, name)), value)
        super().set_param(model_id, name, value)

    def peek(self, model_id: int, name: str) -> NDArray:
        """Get a parameter, to read it now and let go of it."""
        return cast(NDArray, super().get_param(model_id, name))


def _is_same_memory(old: Any, new: Any) -> bool:
    """Tell whether an array is another one reshaped, as optimizers give them back."""
    if new is old:
        return True
    base = getattr(new, "base", None)
    if base is None or getattr(old, "shape", None) != new.shape:
        return False
    return base is old or base is old.base


def watch(model: Model) -> WatchedParams:
    """Get the watched parameters of one layer, watching them from now on.

    Copies, unpickled models and new ones have plain stores, so this is asked of each
    layer each time. A store with a proxy (remote parameters) can't be watched.
    """
    params = model._params
    if not isinstance(params, WatchedParams):
        watched = WatchedParams(params._params, params._grads, proxy=params.proxy)
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


def check_once(model: Model, check: Callable[[Model], None], *attrs: Any) -> None:
    """Check a layer's parameters and attributes when they arrive, and not again.

    check (Callable[[Model], None]): Raises if something is wrong with them.
    attrs (Any): The attributes and dimensions that it looks at: with other objects in
        their place, it is called anew.
    """
    store = watch(model)
    state = (store.arrivals, *attrs)
    if store.checked is None or not all(map(is_, store.checked, state)):
        check(model)
        store.checked = state


def is_shared(models: Sequence[Model]) -> bool:
    """Tell whether anybody but the layers themselves can change their parameters."""
    return any(_is_store_shared(watch(model)) for model in models)


def _is_store_shared(store: WatchedParams) -> bool:
    arrays = store._params.values()
    if store.proxy is not None or _are_held(arrays):
        return True
    return any(_has_shared_memory(array) for array in arrays)


def _are_held(items: Iterable[Any]) -> bool:
    """Tell whether one of the items is held by more than its container."""
    return ALONE is None or any(count > ALONE for count in count_references(items))


def _has_shared_memory(array: Any) -> bool:
    """Tell whether the memory that an array shows is in other hands too."""
    holder = array
    while _get_owner(holder) is not None:
        owner_type = type(_get_owner(holder))
        if not issubclass(owner_type, np.ndarray | type(array)):
            if not array.flags.writeable:
                return False
            # what unpickled arrays rest on, as opposed to a memory map, for instance
            if not issubclass(owner_type, bytes | bytearray | memoryview):
                return True
        if _are_held(map(_get_owner, [holder])):
            return True
        holder = _get_owner(holder)
    return _is_lent(array)


def _get_owner(holder: Any) -> Any:
    """Get what owns the memory of an array, or of what it rests on, if not itself."""
    if isinstance(holder, memoryview):
        return holder.obj
    return getattr(holder, "base", None)


def _is_lent(array: Any) -> bool:
    """Tell whether memory on a GPU is another library's too, such as torch's."""
    memory = getattr(array.data, "mem", None)  # CuPy's
    if type(memory).__name__ == "DLPackMemory":
        return True
    # Thinc can have CuPy take all memory from torch: then nobody else holds it
    if getattr(memory, "_owner", None) is None:
        return False
    return _are_held(map(attrgetter("_owner"), [memory]))
