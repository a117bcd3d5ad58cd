"""Access to parameters of layers, and checks of parameters and attributes.

All checks raise a ValueError. Thinc loads parameters and attributes without checks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from operator import attrgetter, is_
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import FloatsXd

from ..thinc_internals import ParamServer, get_arrays, get_dims, get_store

#: Largest allowed weight: above all trained weights, and far below overflow.
LARGEST = 1e7

REMEDY = "Were the weights saved by a pipeline with another config, or damaged?"

_get_memory = attrgetter("__array_interface__")


class Seal:
    """Parameter proxy whose stamp changes when a parameter is read or set, but not a
    gradient. A seal is neither copied, pickled nor saved.
    """

    def __init__(self, store: ParamServer) -> None:
        # a shallow copy without proxy, to avoid a reference cycle with the store
        self._store = copy(store)
        self.set_grad, self.inc_grad = self._store.set_grad, self._store.inc_grad
        self.stamp = object()

    def __reduce__(self) -> tuple:
        return type(None), ()

    def get_param(self, model_id: int, name: str) -> FloatsXd:
        """Get a parameter, which the caller may modify."""
        self.stamp = object()
        # read last: Thinc writes the value back, and another thread may have set it
        return self._store.get_param(model_id, name)

    def set_param(self, model_id: int, name: str, value: FloatsXd) -> None:
        """Set a parameter, then break the seal: another thread may be reading."""
        self._store.set_param(model_id, name, value)
        self.stamp = object()

    def copy_params(self) -> dict[Any, Any]:
        """Copy the parameters of the store."""
        return {key: array.copy() for key, array in get_arrays(self._store).items()}

    def equals(self, copies: dict[Any, Any]) -> bool:
        """True if the parameters equal `copies`."""
        params: dict[Any, Any] = dict(get_arrays(self._store))
        return params.keys() == copies.keys() and all(
            array.dtype == params[key].dtype and np.array_equal(array, params[key])
            for key, array in copies.items()
        )


def peek(model: Model, name: str) -> NDArray:
    """Get a parameter, for reading only, without breaking the seal."""
    store = get_store(model)
    key = (model.id, name)
    if isinstance(store.proxy, Seal) and key in get_arrays(store):
        return get_arrays(store)[key]
    return cast(NDArray, model.get_param(name))


@contextmanager
def table_gradient(model: Model, name: str) -> Iterator[Any]:
    """Yield an array to add a table's gradient to: the existing gradient if possible,
    since adding a new array of the table's size is slow.
    """
    if model.has_grad(name):
        existing = model.get_grad(name)
        # kernels require this layout
        if existing.dtype == "float32" and existing.flags.c_contiguous:
            yield existing
            return
    gradient = model.ops.alloc2f(*peek(model, name).shape)
    yield gradient
    model.inc_grad(name, gradient)


# Checked parameters, attributes and dimensions, by store.
_checked: WeakKeyDictionary[ParamServer, tuple] = WeakKeyDictionary()


def check_once(model: Model, check: Callable[[Model], None], *more: Any) -> None:
    """Run the check of a layer if its parameters, attributes, dimensions or `more` were
    set since the last check.

    Another view of the same memory, as set by optimizers, and another dropout rate do
    not trigger the check. A layer must always pass the same check.
    """
    store = get_store(model)
    attrs = {**model.attrs, "dropout_rate": None}.values()
    others = [*attrs, *get_dims(model).values(), *more]
    # other proxies may return different parameters in each call
    is_local = isinstance(store.proxy, Seal | None)
    arrays = list(get_arrays(store).values()) if is_local else None
    old_arrays, old_others = _checked.get(store, (None, []))
    is_same = len(others) == len(old_others) and all(map(is_, others, old_others))
    if not (is_same and _are_same_memory(old_arrays, arrays)):
        check(model)
    _checked[store] = arrays, others


def _are_same_memory(old: list[Any] | None, new: list[Any] | None) -> bool:
    if old is None or new is None or len(old) != len(new):
        return False
    if all(map(is_, old, new)):
        return True
    try:
        return list(map(_get_memory, old)) == list(map(_get_memory, new))
    except AttributeError:  # on a GPU
        return False


def check_param(
    model: Model, name: str, shape: tuple[int, ...], largest: float = LARGEST
) -> None:
    """Check that a parameter is set, float32, finite and of the given shape."""
    where = f"The parameter '{name}' of layer '{model.name}'"
    if not model.has_param(name):
        raise ValueError(
            f"{where} should be float32 of shape {shape}, but is missing. Was the "
            "pipeline never initialized (nlp.initialize), or were the weights damaged?"
        )
    array = peek(model, name)
    if array.shape != shape or array.dtype != "float32":
        raise ValueError(
            f"{where} should be float32 of shape {shape}, but is {array.dtype} of "
            f"shape {array.shape}. {REMEDY}"
        )
    n_wrong = array.size - int((abs(array) <= largest).sum())
    if n_wrong:
        raise ValueError(
            f"{where} should be finite numbers up to {largest:.0e}, but {n_wrong} of "
            f"{array.size} are larger or NaN. Did the training diverge, or were the "
            "weights damaged?"
        )


def check_params(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that a layer has only these parameters: Thinc would ignore others."""
    # a damaged file may hold names that are not strings
    others = sorted(map(str, set(model.param_names) - shapes.keys()))
    if others:
        raise ValueError(
            f"Layer '{model.name}' has unexpected parameters: "
            f"{', '.join(others):.80}. {REMEDY}"
        )
    for name, shape in shapes.items():
        check_param(model, name, shape)


def check_attr(model: Model, name: str, is_right: bool, expected: str) -> None:
    if not is_right:
        raise ValueError(
            f"The attribute '{name}' of layer '{model.name}' should be {expected}, but "
            f"is {model.attrs[name]!r:.80}. {REMEDY}"
        )


def check_integer(model: Model, name: str, minimum: int, maximum: int) -> None:
    value = model.attrs[name]
    is_right = type(value) is int and minimum <= value <= maximum
    check_attr(model, name, is_right, f"{minimum} to {maximum}")


def check_number(model: Model, name: str, minimum: float, maximum: float) -> None:
    value = model.attrs[name]
    is_right = type(value) in (int, float) and minimum <= value <= maximum
    check_attr(model, name, is_right, f"a number from {minimum:g} to {maximum:g}")


def check_attr_choice(
    model: Model, name: str, known: Sequence[str | bool | None]
) -> None:
    value = model.attrs[name]
    is_right = any(value is k or (isinstance(value, str) and value == k) for k in known)
    check_attr(model, name, is_right, " or ".join(map(str, known)))


def check_foreign(model: Model, kind: str, foreign: str) -> None:
    """Check that a loaded layer lacks an attribute that only another kind saves."""
    if foreign in model.attrs:
        raise ValueError(
            f"Layer '{model.name}' {kind}, but the loaded weights have the attribute "
            f"'{foreign}' of a layer that does not. Load the weights into a pipeline "
            "with the config they were trained with."
        )


def check_gradient(gradient: Any, shape: tuple[int, ...]) -> None:
    if gradient.shape != shape:
        raise ValueError(
            f"The gradient of {shape[0]} tokens should be of shape {shape}, but is of "
            f"shape {gradient.shape}."
        )
