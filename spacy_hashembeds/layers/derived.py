"""Cache of what is computed from parameters, until they change.

Thinc asks the proxy of a store of parameters, if there is one, whenever somebody gets
or sets a parameter through its layer: an optimizer, `use_params`, whoever loads, saves
or copies the layer. Here the proxy is a seal, which that breaks. What was computed is
used until then, and afterwards as long as parameters equal a copy of those that it was
computed of: whoever only reads them costs no more than a comparison.

What somebody writes after a prediction, to an array that was got before it, is seen
when `set_param` hands the array back, to each layer that has it. This is Thinc's own
contract, which optimizers, `use_params`, loading and copying keep.
"""

from collections.abc import Callable, Sequence
from copy import copy
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from thinc.api import Model
from thinc.backends import ParamServer
from thinc.types import FloatsXd

from ..threads import derived_lock, one_thread

_T = TypeVar("_T")

_get_proxy = attrgetter("_params.proxy")
_get_token = attrgetter("token")


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
        return {key: array.copy() for key, array in self._store._params.items()}

    def has(self, copies: dict[Any, Any]) -> bool:
        """Tell whether the store has parameters equal to copies."""
        params: dict[Any, Any] = dict(self._store._params)
        return params.keys() == copies.keys() and all(
            array.dtype == params[key].dtype and np.array_equal(array, params[key])
            for key, array in copies.items()
        )


class _Kept(NamedTuple, Generic[_T]):
    key: Any
    seals: list[Seal]
    tokens: list[object]
    copies: list[dict]
    value: _T

    def is_sealed(self) -> bool:
        """Tell whether nobody got at the parameters."""
        return list(map(_get_token, self.seals)) == self.tokens

    def has_equal_params(self) -> bool:
        """Tell whether those that somebody got at are what they were."""
        return all(
            seal.token is token or seal.has(copies)
            for seal, token, copies in zip(
                self.seals, self.tokens, self.copies, strict=True
            )
        )


class Derived(Generic[_T]):
    """Caches what was computed from the parameters of some layers.

    Neither copied, pickled nor saved with a model.
    """

    def __init__(self) -> None:
        # replaced as a whole, so that threads never see a part of it
        self._kept: _Kept[_T] | None = None

    def __reduce__(self) -> tuple:
        return type(self), ()

    @property
    def cached(self) -> _T | None:
        """Cached value, if nobody got at the parameters since."""
        kept = self._kept
        return kept.value if kept is not None and kept.is_sealed() else None

    def drop(self) -> None:
        """Let go of what is cached."""
        self._kept = None

    def find(self, models: Sequence[Model], key: Any = None) -> _T | None:
        """Find what is cached, if nobody got at the parameters of just these layers.

        key (Any): What it depends on beside parameters.
        """
        kept = self._kept
        if kept is None or kept.key != key or not kept.is_sealed():
            return None
        return kept.value if list(map(_get_proxy, models)) == kept.seals else None

    def get_or_compute(
        self, models: Sequence[Model], compute: Callable[[], _T], key: Any = None
    ) -> _T | None:
        """Get what is cached, or compute it on one thread; None if it can't be kept.

        `compute` checks the layers' parameters first.
        """
        found = self.find(models, key)
        if found is not None or not all(map(_can_seal, models)):
            return found
        with derived_lock:  # the first computes, and others wait
            found = self.find(models, key)
            if found is not None:
                return found
            seals = [_seal(model._params) for model in models]
            tokens = list(map(_get_token, seals))
            kept, self._kept = self._kept, None
            if kept is None or kept.key != key or kept.seals != seals:
                kept = None
            if kept is None or not kept.has_equal_params():
                del kept  # it may be as large as what is computed
                copies = [seal.copy_params() for seal in seals]
                with one_thread():
                    kept = _Kept(key, seals, tokens, copies, compute())
                if not (kept.is_sealed() and all(map(Seal.has, seals, copies))):
                    return kept.value  # of what another thread is changing
            self._kept = kept._replace(tokens=tokens)
            return kept.value


def _can_seal(model: Model) -> bool:
    """Tell whether parameters are numpy's, and not served by somebody else's proxy."""
    store = model._params
    return isinstance(store.proxy, Seal | None) and all(
        isinstance(array, np.ndarray) for array in store._params.values()
    )


def _seal(store: ParamServer) -> Seal:
    if store.proxy is None:
        store.proxy = Seal(store)
    return store.proxy
