"""Read the parameters of a layer, and check them when they arrive."""

from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.backends import ParamServer

from ..kernels.identity import are_same
from .frozenparams import Proxy

# What was found in order: the parameters of each store, and attributes.
_checked: WeakKeyDictionary[ParamServer, tuple] = WeakKeyDictionary()


def peek(model: Model, name: str) -> NDArray:
    """Read a parameter of a layer, leaving it frozen if it is.

    RAISES (KeyError): If it has no such parameter yet, as Thinc does.
    """
    store = model._params
    key = (model.id, name)
    if isinstance(store.proxy, Proxy) and key in store._params:
        return cast(NDArray, store._params[key])
    return cast(NDArray, model.get_param(name))


def check_once(model: Model, check: Callable[[Model], None], *attrs: Any) -> None:
    """Check a layer's parameters and attributes when they arrive, and not again.

    Optimizers change what is there, and give it back as another view of it.

    check (Callable[[Model], None]): Raises if something is wrong with them.
    attrs (Any): The attributes and dimensions that it looks at: with other objects in
        their place, it is called anew.
    """
    store = model._params
    if not (store.proxy is None or isinstance(store.proxy, Proxy)):
        check(model)  # what comes from elsewhere can be other arrays each time
        return
    state = (*store._params.values(), *attrs)
    checked = _checked.get(store, ())
    if are_same(checked, state):
        return
    if not are_same(checked, state, _is_same_memory):
        check(model)
    _checked[store] = state


def _is_same_memory(old: Any, new: Any) -> bool:
    if new is old:
        return True
    both = isinstance(old, np.ndarray) and isinstance(new, np.ndarray)
    return both and old.__array_interface__ == new.__array_interface__
