"""Know whether parameters can have changed since they were last looked at.

What is computed from parameters may be kept only as long as nobody changes them, in
place or otherwise. Whoever wants to do so must first get them from the model, or hold
on to them from before: the first is counted, the second is seen by their reference
counts. Both take no time to speak of, whatever the size of the parameters. Only a weak
reference to a parameter is neither, and a second map of a file that it is a map of.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
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

    Counted before and after, so that no thread takes for a state what another is about
    to change, and by numbers that are never given twice.

    accesses (int): Another number after each time that a parameter was got or set.
    arrivals (int): How often a parameter came from elsewhere. Optimizers change what
        is there.
    checked (tuple, optional): What `check_once` has checked last.
    """

    def __init__(self, store: ParamServer) -> None:
        # the very dicts: another thread may be writing to them through the old store
        self._params, self._grads = store._params, store._grads
        self.proxy = store.proxy
        self._numbers = count(1)
        self.accesses = self.arrivals = 0
        self.checked: tuple | None = None

    def __reduce__(self) -> tuple:
        # copied and pickled as what it stands for
        return partial(ParamServer, proxy=self.proxy), (self._params, self._grads)

    def get_param(self, model_id: int, name: str) -> FloatsXd:
        """Get a parameter, which the caller may change or keep."""
        self.accesses = next(self._numbers)
        value = super().get_param(model_id, name)
        self.accesses = next(self._numbers)
        return value

    def set_param(self, model_id: int, name: str, value: FloatsXd) -> None:
        """Replace a parameter."""
        self.accesses = next(self._numbers)
        is_known = _is_same_memory(self._params.get((model_id, name)), value)
        super().set_param(model_id, name, value)
        self.arrivals += not is_known
        self.accesses = next(self._numbers)

    def peek(self, model_id: int, name: str) -> NDArray:
        """Get a parameter, to read it now and let go of it."""
        return cast(NDArray, super().get_param(model_id, name))


def _is_same_memory(old: Any, new: Any) -> bool:
    """Tell whether an array shows the very numbers of another one.

    Optimizers change an array, and give it back reshaped to what it was.
    """
    return new is old or (
        new is not None and _describe_memory(new) == _describe_memory(old)
    )


def _describe_memory(array: Any) -> Any:
    on_gpu = getattr(array, "__cuda_array_interface__", None)
    return on_gpu or getattr(array, "__array_interface__", None)


def watch(model: Model) -> WatchedParams | None:
    """Get the watched parameters of one layer, watching them from now on.

    Copies, unpickled models and new ones have plain stores, so this is asked of each
    layer each time. Somebody's own kind of store, and one with a proxy (remote
    parameters), can't be watched: None.
    """
    params = model._params
    if isinstance(params, WatchedParams):
        return params if params.proxy is None else None
    if type(params) is not ParamServer or params.proxy is not None:
        return None
    model._params = watched = WatchedParams(params)
    return watched


def peek(model: Model, name: str) -> NDArray:
    """Read a parameter of a layer without it counting as an access.

    RAISES (KeyError): If it has no such parameter yet, as Thinc does.
    """
    store = watch(model)
    if store is None or not model.has_param(name):
        return cast(NDArray, model.get_param(name))
    return store.peek(model.id, name)


def copy_param(model: Model, name: str) -> NDArray:
    """Copy a parameter, to keep it.

    Whoever keeps the parameter itself would look as if somebody had a hand on it.
    """
    return peek(model, name).copy()


#: Which weights were looked at: for each layer its store, and the last access to it.
State = list[tuple[WatchedParams, int]]


def get_state(models: Sequence[Model]) -> State | None:
    """Say in which state the parameters of layers are, or None if it can't be told."""
    stores = [watch(model) for model in models]
    if None in stores:
        return None
    return [(store, store.accesses) for store in stores if store is not None]


def identify(state: State) -> list[int]:
    """Say which arrays there are.

    Another thread may be in the middle of setting one in the store that was there
    before it was watched, which is not counted.
    """
    return [id(array) for store, _ in state for array in store._params.values()]


def check_once(model: Model, check: Callable[[Model], None], *attrs: Any) -> None:
    """Check a layer's parameters and attributes when they arrive, and not again.

    check (Callable[[Model], None]): Raises if something is wrong with them.
    attrs (Any): The attributes and dimensions that it looks at: with other objects in
        their place, it is called anew.
    """
    store = watch(model)
    if store is None:
        check(model)
        return
    state = (store.arrivals, *attrs)
    if store.checked is None or not all(map(is_, store.checked, state)):
        check(model)
        store.checked = state


def get_checked(model: Model) -> tuple | None:
    """Get what `check_once` has checked last: another object after each other check."""
    store = watch(model)
    return None if store is None else store.checked


def is_shared(models: Sequence[Model]) -> bool:
    """Tell whether anybody but the layers themselves can change their parameters."""
    stores = [watch(model) for model in models]
    return any(store is None or _is_store_shared(store) for store in stores)


def _is_store_shared(store: WatchedParams) -> bool:
    arrays = store._params.values()
    return _are_held(arrays) or any(_has_shared_memory(array) for array in arrays)


def _are_held(items: Iterable[Any]) -> bool:
    """Tell whether one of the items is held by more than its container."""
    return ALONE is None or any(n > ALONE for n in count_references(items))


def _has_shared_memory(array: Any) -> bool:
    """Tell whether the memory that an array shows is in other hands too."""
    if _get_owner(array) is None:
        return _is_lent(array)
    holder, is_writeable = array, getattr(array.flags, "writeable", True)  # CuPy's
    while (owner_type := type(_get_owner(holder))) is not type(None):
        if issubclass(owner_type, memoryview):
            is_writeable |= _is_writeable(_get_owner(holder))
        elif issubclass(owner_type, bytes):
            # nobody can write to them but through arrays that numpy has unpickled
            return is_writeable and _are_held(map(_get_owner, [holder]))
        elif not issubclass(owner_type, np.ndarray | type(array) | bytearray):
            # a memory map, for instance: fine if it is for reading only
            return is_writeable or _is_writeable(_get_owner(holder))
        if _are_held(map(_get_owner, [holder])):
            return True
        holder = _get_owner(holder)
    return _is_lent(array)


def _is_writeable(owner: Any) -> bool:
    try:
        return not memoryview(owner).readonly
    except TypeError:
        return True


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
