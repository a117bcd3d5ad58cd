"""Parameters of layers: read, added to, and checked when they arrive.

All checks raise a ValueError: Thinc loads parameters and attributes as they come.
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

#: Largest weight: no training gives larger ones, and with these nothing overflows.
LARGEST = 1e7

REMEDY = "Were the weights saved by a pipeline with another config, or damaged?"

_get_memory = attrgetter("__array_interface__")


class Seal:
    """The proxy of a store, with another token since somebody got at a parameter.

    Gradients are the store's own business. Neither copied, pickled nor saved with it.
    """

    def __init__(self, store: ParamServer) -> None:
        # the same dicts, without a proxy: to hold the store itself would be a circle
        self._store = copy(store)
        self.set_grad, self.inc_grad = self._store.set_grad, self._store.inc_grad
        self.token = object()

    def __reduce__(self) -> tuple:
        return type(None), ()

    def get_param(self, model_id: int, name: str) -> FloatsXd:
        """Get a parameter, to which the caller may write."""
        self.token = object()
        # last: Thinc writes it back, over what another thread may have set before
        return self._store.get_param(model_id, name)

    def set_param(self, model_id: int, name: str, value: FloatsXd) -> None:
        """Set a parameter, and only then break what another thread may have sealed."""
        self._store.set_param(model_id, name, value)
        self.token = object()

    def copy_params(self) -> dict[Any, Any]:
        """Copy the parameters of the store."""
        return {key: array.copy() for key, array in get_arrays(self._store).items()}

    def has(self, copies: dict[Any, Any]) -> bool:
        """Return True if the store has parameters equal to copies."""
        params: dict[Any, Any] = dict(get_arrays(self._store))
        return params.keys() == copies.keys() and all(
            array.dtype == params[key].dtype and np.array_equal(array, params[key])
            for key, array in copies.items()
        )


def peek(model: Model, name: str) -> NDArray:
    """Read a parameter as `get_param`, not to write to it: no seal is broken."""
    store = get_store(model)
    key = (model.id, name)
    if isinstance(store.proxy, Seal) and key in get_arrays(store):
        return get_arrays(store)[key]
    return cast(NDArray, model.get_param(name))


@contextmanager
def table_gradient(model: Model, name: str) -> Iterator[Any]:
    """Return the gradient of a table to add to in place: itself, where there is one.

    Most batches need few of the rows: to add a table of zeros takes longer than the
    rest.
    """
    if model.has_grad(name):
        there = model.get_grad(name)
        # kernels can add to no others in place
        if there.dtype == "float32" and there.flags.c_contiguous:
            yield there
            return
    gradient = model.ops.alloc2f(*peek(model, name).shape)
    yield gradient
    model.inc_grad(name, gradient)


# Checked parameters of each store, attributes and dimensions.
_checked: WeakKeyDictionary[ParamServer, tuple] = WeakKeyDictionary()


def check_once(model: Model, check: Callable[[Model], None], *more: Any) -> None:
    """Check a layer's parameters, attributes and dimensions when they arrive.

    And not again, though optimizers give back another view of what was there, and
    trainers set the rate of dropout. A layer has one check, which may look at `more`.
    """
    store = get_store(model)
    attrs = {**model.attrs, "dropout_rate": None}.values()
    others = [*attrs, *get_dims(model).values(), *more]
    # who serves parameters may serve others each time
    can_tell = store.proxy is None or isinstance(store.proxy, Seal)
    arrays = list(get_arrays(store).values()) if can_tell else None
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
    """Check that a parameter is there, with its shape, float32 and finite."""
    where = f"The parameter '{name}' of layer '{model.name}'"
    if not model.has_param(name):
        raise ValueError(
            f"{where} should be float32 of shape {shape}, but is not there. Was the "
            "pipeline never initialised (nlp.initialize), or were the weights damaged?"
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
            f"{array.size} are larger or no numbers. Did the training diverge, or were "
            "the weights damaged?"
        )


def check_params(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that a layer has its parameters and no others.

    Those of another layer that are loaded beside them would go unused unnoticed.
    """
    # a damaged file may have names that are no text
    others = sorted(map(str, set(model.param_names) - shapes.keys()))
    if others:
        raise ValueError(
            f"Layer '{model.name}' has parameters that are not of the "
            f"{len(shapes)} that it needs: {', '.join(others):.80}. {REMEDY}"
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
    """Check that what was loaded has no attribute that only another kind saves."""
    if foreign in model.attrs:
        raise ValueError(
            f"A layer that {kind} can't load the weights of one that does not, but "
            f"layer '{model.name}' has the attribute '{foreign}' of such a layer. Load "
            "the weights into a pipeline with the config they were trained with."
        )


def check_gradient(gradient: Any, shape: tuple[int, ...]) -> None:
    if gradient.shape != shape:
        raise ValueError(
            f"The gradient of {shape[0]} tokens should be of shape {shape}, but is of "
            f"shape {gradient.shape}."
        )
