"""Read the parameters of a layer, add to their gradients, and check what arrives."""

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ..thinc_internals import ParamServer, get_arrays, get_dims, get_store
from .plan import Seal

# What was found in order: the parameters of each store, attributes and dimensions.
_checked: WeakKeyDictionary[ParamServer, tuple] = WeakKeyDictionary()


def peek(model: Model, name: str) -> NDArray:
    """Read a parameter as `get_param`, not to write to it: no seal is broken."""
    store = get_store(model)
    key = (model.id, name)
    if isinstance(store.proxy, Seal) and key in get_arrays(store):
        return get_arrays(store)[key]
    return cast(NDArray, model.get_param(name))


def inc_grad(model: Model, name: str, grad: NDArray) -> None:
    """Add to the gradient of a parameter, whatever the layout of what is added."""
    model.inc_grad(name, model.ops.as_contig(cast(Any, grad)))


def check_once(model: Model, check: Callable[[Model], None], *more: Any) -> None:
    """Check a layer's parameters, attributes and dimensions when they arrive.

    And not again, though optimizers give back another view of what was there, and
    trainers set the rate of dropout. A layer has one check, which may look at `more`.
    """
    store = get_store(model)
    if not isinstance(store.proxy, Seal | None):
        check(model)  # what comes from elsewhere can be other arrays each time
        return
    attrs = {**model.attrs, "dropout_rate": None}.values()
    state = (*get_arrays(store).values(), *attrs, *get_dims(model).values(), *more)
    checked = _checked.get(store, ())
    if are_same(checked, state):
        return
    if not are_same(checked, state, _is_same_memory):
        check(model)
    _checked[store] = state


def are_same(
    old: Sequence[Any],
    new: Sequence[Any],
    is_same: Callable[[Any, Any], bool] = is_,
) -> bool:
    """Tell whether there are as many objects, each the same as before."""
    return len(old) == len(new) and all(map(is_same, old, new))


def _is_same_memory(old: Any, new: Any) -> bool:
    if new is old:
        return True
    both = isinstance(old, np.ndarray) and isinstance(new, np.ndarray)
    return both and old.__array_interface__ == new.__array_interface__
