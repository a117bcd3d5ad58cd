"""Parameters that nobody can change unnoticed, for as long as something rests on them.

Thinc asks the proxy of a store of parameters, if there is one, whenever somebody gets
or sets a parameter or a gradient through a layer: an optimizer in `finish_update`,
`use_params`, whoever loads, saves, copies or moves the layer. Here the proxy ends it
all before they go on. Until then arrays are read-only: whoever kept one from before and
writes to it gets numpy's error, and gets at it again by `model.get_param`.

What can't be seen is a write to memory itself: by C code that does not ask, or by
another view of an array that somebody made before it was frozen.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any, Generic, TypeVar
from weakref import WeakSet, ref

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.backends import ParamServer

from ..kernels import locks
from ..kernels.identity import Snapshot
from ..kernels.threads import one_thread

_T = TypeVar("_T")

_get_token = attrgetter("_params.proxy.token")
_get_params = attrgetter("_params._params")
_get_writeable = attrgetter("flags.writeable")

# Who has frozen an array, by its id. They hold it, so that the id stays its own.
_holders: dict[int, "WeakSet[FrozenParams]"] = {}


class Derived(Generic[_T]):
    """Caches what was computed from the parameters of some layers.

    Computed when it is first asked for, and anew after somebody got at them. Neither
    copied, pickled nor saved with a model.
    """

    def __init__(self) -> None:
        self._params: FrozenParams | None = None
        self._key: Sequence[Model] = ()

    def __reduce__(self) -> tuple:
        return type(self), ()

    @property
    def cached(self) -> _T | None:
        """What is cached, for as long as nobody got at the parameters."""
        return None if self._params is None else self._params.value

    def find(self, models: Sequence[Model], key: Sequence[Model] = ()) -> _T | None:
        """Find what is cached, if the layers still have the parameters it is of.

        key (Sequence[Model]): Other layers, on whose order it depends.
        """
        params = self._params
        if params is None or self._key != key:
            return None
        value: _T | None = params.value  # before another thread may release it
        return value if params.are_current(models) else None

    def get_or_compute(
        self,
        models: Sequence[Model],
        compute: Callable[[], _T],
        key: Sequence[Model] = (),
    ) -> _T | None:
        """Get what is cached, or compute it on one thread; None if it can't be.

        `compute` checks the layers' parameters first.
        """
        found = self.find(models, key)
        if found is not None or not can_freeze(models):
            return found
        # the first computes, and others wait: it takes less time than without
        with locks.frozen_params:
            found = self.find(models, key)
            if found is not None:
                return found
            params = FrozenParams(models)
            self._params, self._key = params, key
            try:
                with one_thread():
                    value = compute()
            except BaseException:
                params.release()
                raise
            if not params.are_current(models):
                return None  # another thread has set some meanwhile
            params.value = value
            return value


class FrozenParams:
    """The parameters of some layers, read-only until somebody gets at one of them.

    Layers are such that `can_freeze` is true. Whatever is interrupted, by Ctrl-C for
    instance, leaves either proxies, by which the next access releases the rest, or
    arrays that are writeable, which are seen.

    value (Any): What was computed from them. None once they are released.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        stores = [model._params for model in models]
        # they hold this by their proxies, and go when their models are let go
        self._stores = [ref(store) for store in stores]
        self._parts: list[NDArray] = []
        self._made_read_only: list[NDArray] = []
        self.value: Any = None
        with locks.frozen_params:
            for key in [key for key, holders in _holders.items() if not holders]:
                del _holders[key]
            for store in stores:
                if isinstance(store.proxy, Proxy):
                    store.proxy.params.release()
                store.proxy = Proxy(self, store)
            self._tokens = list(map(_get_token, models))
            _replace_unpickled(stores)
            self._arrays = Snapshot(map(_get_params, models))
            for array in self._arrays.values:
                self._freeze(array)

    def are_current(self, models: Sequence[Model]) -> bool:
        """Tell whether these layers still have just these parameters, frozen."""
        try:
            tokens = list(map(_get_token, models))
        except AttributeError:  # a proxy is gone
            return False
        return (
            tokens == self._tokens
            and self._arrays.is_current()
            and not any(map(_get_writeable, self._arrays.values))
        )

    def release(self) -> None:
        """Let everybody at the parameters again."""
        with locks.frozen_params:
            self.value = None
            for part in self._parts:
                for holder in _holders.pop(id(part), ()):
                    if holder is not self:
                        holder.release()  # of other layers, which have the very array
            for part in self._made_read_only:
                with suppress(ValueError):  # if somebody else has made its base so too
                    part.flags.writeable = True
            for reference in self._stores:
                store = reference()
                if store is not None and getattr(store.proxy, "params", None) is self:
                    store.proxy = None
            self._parts.clear()
            self._made_read_only.clear()

    def _freeze(self, array: NDArray) -> None:
        # what it is a view of comes first, as it has to where they are released
        for part in reversed(_list_bases(array)):
            self._parts.append(part)
            _holders.setdefault(id(part), WeakSet()).add(self)
            if part.flags.writeable:
                self._made_read_only.append(part)
                part.flags.writeable = False


class Proxy:
    """What Thinc asks whenever somebody gets or sets something of one store.

    Neither copied nor pickled with the store: then it is None, as if it was not there.
    Its token stands for it where a reference to it would be a circle.
    """

    def __init__(self, params: FrozenParams, store: ParamServer) -> None:
        self.params = params
        self.token = object()
        self._store = ref(store)

    def __reduce__(self) -> tuple:
        return type(None), ()

    def _release(self) -> ParamServer:
        self.params.release()
        store = self._store()
        assert store is not None, "it is in use"
        return store

    def get_param(self, model_id: int, name: str) -> Any:
        """Give a parameter, which the caller may change or keep."""
        return self._release()._params[model_id, name]

    def set_param(self, model_id: int, name: str, value: Any) -> None:
        """Let a parameter be replaced."""
        self._release()

    def set_grad(self, model_id: int, name: str, value: Any) -> None:
        """Replace a gradient."""
        self._release().set_grad(model_id, name, value)

    def inc_grad(self, model_id: int, name: str, value: Any) -> None:
        """Add to a gradient."""
        self._release().inc_grad(model_id, name, value)


def can_freeze(models: Sequence[Model]) -> bool:
    """Tell whether parameters can be frozen.

    Not those on a GPU, in memory of another library, which may write to it, or remote.
    """
    stores = [model._params for model in models]
    return all(
        type(store) is ParamServer and isinstance(store.proxy, Proxy | None)
        for store in stores
    ) and all(_is_own(array) for store in stores for array in store._params.values())


def make_writeable(model: Model) -> None:
    """Let an optimizer at all parameters below a model.

    They are read-only where a layer was pickled while they were frozen, and where a
    layer that has the very arrays was let go.
    """
    for node in model.walk():
        store = node._params
        for (_, name), array in list(store._params.items()):
            # CuPy's arrays have no such flag; and optimizers ask a proxy
            if store.proxy is not None or getattr(array.flags, "writeable", True):
                continue
            for holder in list(_holders.get(id(array), ())):
                holder.release()
            if not array.flags.writeable:
                node.set_param(name, array.copy())


def _replace_unpickled(stores: Sequence[ParamServer]) -> None:
    """Replace arrays that numpy has unpickled to bytes: they would stay read-only."""
    copies: dict[int, Any] = {}
    for store in stores:
        for key, array in store._params.items():
            if id(array) in copies or _is_unpickled(array):
                if id(array) not in copies:
                    copies[id(array)] = array.copy()
                store._params[key] = copies[id(array)]
                array.flags.writeable = False  # for whoever has kept it


def _list_bases(array: Any) -> list[NDArray]:
    parts: list[NDArray] = []
    while isinstance(array, np.ndarray):
        parts.append(array)
        array = array.base
    return parts


def _get_owner(array: NDArray) -> Any:
    """Get what owns the memory of an array, or None if it is one of numpy's."""
    owner: Any = _list_bases(array)[-1].base
    return owner.obj if isinstance(owner, memoryview) else owner


def _is_unpickled(array: Any) -> bool:
    owner = type(_get_owner(array))
    return owner is bytearray or (owner is bytes and array.flags.writeable)


def _is_own(array: Any) -> bool:
    """Tell whether nobody can write to the memory of an array but through numpy's."""
    if not isinstance(array, np.ndarray):
        return False
    owner = _get_owner(array)
    if owner is None or type(owner) in (bytes, bytearray):
        return True
    # a file that is mapped for reading
    parts = _list_bases(array)
    is_mapped = any(isinstance(part, np.memmap) for part in parts)
    return is_mapped and not any(part.flags.writeable for part in parts)
