"""Parameters that nobody can change unnoticed, for as long as something rests on them.

What is computed from parameters can be cached only until somebody changes them, by
setting others or in place. Thinc asks a proxy, if its store of parameters has one,
whenever somebody gets or sets a parameter or a gradient through a layer: an optimizer
in `finish_update`, `use_params`, whoever loads, saves, copies or moves the layer. Here
the proxy is told that way, and ends it all before they go on. The arrays themselves are
read-only until then: whoever kept one from before and writes to it gets numpy's error,
and gets at it again by `model.get_param`.

What can't be seen is a write to memory itself: by C code that does not ask, or by
another view of an array that somebody made before it was frozen.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from operator import is_
from typing import Any
from weakref import WeakValueDictionary, ref

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.backends import ParamServer

from ..kernels import locks

# Who has frozen an array, by its id. They hold it, so that the id stays its own.
_holders: WeakValueDictionary[int, "FrozenParams"] = WeakValueDictionary()


class FrozenParams:
    """The parameters of some layers, read-only until somebody gets at one of them.

    Neither copied nor pickled with a store: there it is None, as if it were not there.

    models (Sequence[Model]): Layers for which `can_freeze` is true.
    value (Any): What was computed from them. None once they are released.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        stores = [model._params for model in models]
        # not the stores: they hold this, and go when their models are let go
        self._stores = {m.id: ref(s) for m, s in zip(models, stores, strict=True)}
        self._made_read_only: list[NDArray] = []
        self.value: Any = None
        with locks.frozen_params:
            for store in stores:
                if isinstance(store.proxy, FrozenParams):
                    store.proxy.release()
                store.proxy = self
                _replace_unpickled(store)
            self._arrays = list(_list_arrays(stores))
            for array in self._arrays:
                self._freeze(array)

    def __reduce__(self) -> tuple:
        return type(None), ()

    def __del__(self) -> None:
        self._thaw()  # others may have the arrays

    def are_current(self, models: Sequence[Model]) -> bool:
        """Tell whether these layers still have just these parameters, frozen."""
        stores = [model._params for model in models]
        return [store.proxy for store in stores] == [self] * len(stores) and all(
            map(is_, self._arrays, _list_arrays(stores))
        )

    def release(self) -> None:
        """Let everybody at the parameters again."""
        with locks.frozen_params:
            for reference in self._stores.values():
                store = reference()
                if store is not None and store.proxy is self:
                    store.proxy = None
            self.value = None
            self._thaw()

    def _freeze(self, array: NDArray) -> None:
        for part in reversed(_list_bases(array)):
            holder = _holders.get(id(part))
            if holder is not None and holder is not self:
                holder.release()  # of other layers, which have the very array
            if part.flags.writeable:
                part.flags.writeable = False
                self._made_read_only.append(part)
                _holders[id(part)] = self

    def _thaw(self) -> None:
        # what an array is a view of comes before it, and has to be writeable first
        for part in self._made_read_only:
            _holders.pop(id(part), None)
            with suppress(ValueError):  # if somebody else has made that read-only
                part.flags.writeable = True
        self._made_read_only.clear()

    def _release_store(self, model_id: int) -> ParamServer:
        self.release()
        store = self._stores[model_id]()
        assert store is not None, "it is in use"
        return store

    # What Thinc asks of a proxy:

    def get_param(self, model_id: int, name: str) -> Any:
        """Give a parameter, which the caller may change or keep."""
        return self._release_store(model_id)._params[model_id, name]

    def set_param(self, model_id: int, name: str, value: Any) -> None:
        """Let a parameter be replaced."""
        self.release()

    def set_grad(self, model_id: int, name: str, value: Any) -> None:
        """Replace a gradient."""
        self._release_store(model_id).set_grad(model_id, name, value)

    def inc_grad(self, model_id: int, name: str, value: Any) -> None:
        """Add to a gradient."""
        self._release_store(model_id).inc_grad(model_id, name, value)


def can_freeze(models: Sequence[Model]) -> bool:
    """Tell whether parameters can be frozen.

    Not those on a GPU, or in the memory of another library, which any part of it may
    write to, or from elsewhere (remote parameters).
    """
    stores = [model._params for model in models]
    return all(
        type(store) is ParamServer and isinstance(store.proxy, FrozenParams | None)
        for store in stores
    ) and all(map(_is_own, _list_arrays(stores)))


def _list_arrays(stores: Sequence[ParamServer]) -> Iterator[Any]:
    return chain.from_iterable(store._params.values() for store in stores)


def _replace_unpickled(store: ParamServer) -> None:
    """Replace arrays that numpy has unpickled to bytes: they would stay read-only."""
    for key, array in store._params.items():
        if array.flags.writeable and type(_list_bases(array)[-1].base) is bytes:
            store._params[key] = array.copy()
            array.flags.writeable = False  # for whoever has kept it


def _list_bases(array: Any) -> list[NDArray]:
    """List an array, what it is a view of, and so on."""
    parts: list[NDArray] = []
    while isinstance(array, np.ndarray):
        parts.append(array)
        array = array.base
    return parts


def _is_own(array: Any) -> bool:
    """Tell whether nobody can write to the memory of an array but through numpy's."""
    if not isinstance(array, np.ndarray):
        return False
    parts = _list_bases(array)
    owner: Any = parts[-1].base
    # numpy unpickles to arrays that rest on bytes
    buffer = owner.obj if isinstance(owner, memoryview) else owner
    is_numpys = buffer is None or type(buffer) in (bytes, bytearray)
    return is_numpys or not any(part.flags.writeable for part in parts)


def make_writeable(model: Model) -> None:
    """Let an optimizer at the parameters of a layer.

    They are read-only if the layer was pickled while they were frozen, and if another
    layer has the very arrays.
    """
    store = model._params
    if store.proxy is not None:
        return  # optimizers ask it
    for (_, name), array in list(store._params.items()):
        if not getattr(array.flags, "writeable", True):  # CuPy's have no such flag
            holder = _holders.get(id(array))
            if holder is None:
                model.set_param(name, array.copy())
            else:
                holder.release()
