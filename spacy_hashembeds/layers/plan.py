"""Plans for prediction, made once per model and validated in each call.

A plan caches two things. The first is the layers, identified by the forward functions
of nodes, so that a wrapped or replaced node is not bypassed (`with_nvtx_range`, for
instance, keeps the name). The second is a value computed from the layers' parameters.

Thinc calls the proxy of a parameter store whenever a parameter is read or set through
its layer: by an optimizer, by `use_params`, or when the layer is loaded, saved or
copied. Here the proxy is a `Seal`, which such an access breaks. The cached value is
valid while the seal is unbroken, and afterwards if the parameters still equal a copy
made when the value was computed. An access that only reads parameters thus costs one
comparison.

If an array read before a prediction is changed after it, this is detected only when the
array is passed to `set_param` for each layer that has it. Optimizers, `use_params`,
loading and copying do so. Until then, predictions may be stale, unlike Thinc's layers'.
"""

from collections.abc import Callable, Sequence
from operator import getitem, is_
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from thinc.api import Model

from ..thinc_internals import (
    ParamServer,
    chain_forward,
    dropout_forward,
    get_arrays,
    get_dims,
    get_forward,
    get_layers,
    get_proxy,
    get_stamp,
    get_store,
    getitem_forward,
    layernorm_forward,
    maxout_forward,
)
from ..threads import derived_lock, one_thread
from .checks import Seal

_L = TypeVar("_L")
_V = TypeVar("_V")

# Methods of ops that fast paths bypass, and packages whose methods they may bypass.
_METHODS = ("gemm", "maxout", "backprop_maxout", "seq2col", "backprop_seq2col")
_PACKAGES = {"thinc", "thinc_apple_ops", "spacy_hashembeds"}


class UnexpectedNodeError(Exception):
    """A node has an unexpected forward function or unexpected layers."""


class MaxoutLayers(NamedTuple):
    """The layers of Thinc's `Maxout(..., normalize=True)`."""

    maxout: Model
    layernorm: Model
    dropout: Model | None


def expect(model: Model, forward: Callable, n_layers: int | None = None) -> list[Model]:
    """Get the layers of a node. Raise UnexpectedNodeError for an unexpected one."""
    layers = model.layers
    if get_forward(model) is not forward or n_layers not in (None, len(layers)):
        raise UnexpectedNodeError(model.name)
    return layers


def expect_maxout(model: Model) -> MaxoutLayers:
    """Find the layers of `Maxout(..., normalize=True)`, with or without dropout."""
    first, second = expect(model, chain_forward, 2)
    if get_forward(second) is dropout_forward:
        return expect_maxout(first)._replace(dropout=second)
    expect(first, maxout_forward, 0)
    expect(second, layernorm_forward, 0)
    methods = [getattr(first.ops, name) for name in _METHODS]
    if not {str(m.__module__).partition(".")[0] for m in methods} <= _PACKAGES:
        raise UnexpectedNodeError(first.name)
    return MaxoutLayers(first, second, None)


def expect_column(model: Model, column: int) -> Model:
    """Find the layer whose input is this column of an integer matrix."""
    selection, layer = expect(model, chain_forward, 2)
    expect(selection, getitem_forward, 0)
    if selection.attrs.get("index") != (slice(0, None), column):
        raise UnexpectedNodeError(selection.name)
    return layer


class _Tree(Generic[_L]):
    """Layers found below a root, and a snapshot of all nodes, in parallel lists that
    are compared without Python code per node.
    """

    def __init__(
        self, root: Model, find: Callable[[Model], _L], more: Sequence[Any]
    ) -> None:
        self.nodes = list(root.walk())[1:]
        self.functions = list(map(get_forward, self.nodes))
        self.parents = [node for node in self.nodes if get_layers(node)]
        self.layers = [list(get_layers(node)) for node in (root, *self.parents)]
        self.dicts = [node.attrs for node in self.nodes if node.attrs]
        leaves = [node for node in self.nodes if not get_layers(node)]
        self.dicts += filter(None, map(get_dims, leaves))
        self.n_items = sum(map(len, self.dicts))
        # `find` does not depend on the dropout rate, which trainers set
        items = [(d, name) for d in self.dicts for name in d if name != "dropout_rate"]
        self.owners, self.names = [d for d, _ in items], [name for _, name in items]
        values = map(getitem, self.owners, self.names)
        self.values = [root.ops, len(more), *more, *values]
        # last: the next call then detects changes by another thread
        try:
            self.found: _L | None = find(root)
        except UnexpectedNodeError:
            self.found = None

    def is_valid(self, root: Model, more: Sequence[Any]) -> bool:
        """True if functions, layers and values of all nodes are unchanged."""
        try:
            values = map(getitem, self.owners, self.names)
            return (
                all(map(is_, (root.ops, len(more), *more, *values), self.values))
                and sum(map(len, self.dicts)) == self.n_items
                and list(map(get_forward, self.nodes)) == self.functions
                and [get_layers(root), *map(get_layers, self.parents)] == self.layers
            )
        except KeyError:  # an attribute was removed
            return False


class _Cached(NamedTuple, Generic[_V]):
    """A value computed from layers' parameters, and the state it depends on.

    stamps: Stamps of the layers' seals.
    copies: Copies of the layers' parameters.
    """

    key: Any
    models: list[Model]
    stamps: list[object]
    copies: list[dict]
    value: _V

    def is_for(self, models: list[Model], key: Any) -> bool:
        """True if the value was computed from these layers and this key."""
        return (self.models, self.key) == (models, key)

    def is_sealed(self) -> bool:
        """True if no parameters were accessed."""
        try:
            return list(map(get_stamp, self.models)) == self.stamps
        except AttributeError:  # another proxy
            return False

    def has_equal_params(self) -> bool:
        """True if the parameters are unchanged."""
        return all(
            seal.stamp is stamp or seal.equals(copies)
            for seal, stamp, copies in zip(
                map(get_proxy, self.models), self.stamps, self.copies, strict=True
            )
        )


class Plan(Generic[_L, _V]):
    """Layers that a model predicts with, and a value computed from their parameters.

    The content is not copied, pickled or saved. A plan has no reference to the root, so
    that the model can be freed.
    """

    def __init__(self) -> None:
        # replaced as a whole: threads never see an incomplete entry
        self._tree: _Tree[_L] | None = None
        self._cached: _Cached[_V] | None = None

    def __reduce__(self) -> tuple:
        return type(self), ()

    def find_layers(
        self, root: Model, find: Callable[[Model], _L], *more: Any
    ) -> _L | None:
        """Get the result of `find(root)`, or None if it raises UnexpectedNodeError.

        The result may depend only on functions, layers, ops, attributes and dimensions
        of nodes, and on `more`, and must not refer to the root.
        """
        tree = self._tree
        if tree is None or not tree.is_valid(root, more):
            self._tree = tree = _Tree(root, find, more)
        return tree.found

    def find(self, models: list[Model], key: Any = None) -> _V | None:
        """Get the value for layers and `key`, or None if a parameter was accessed."""
        cached = self._cached
        if cached and cached.is_for(models, key) and cached.is_sealed():
            return cached.value
        return None

    def get_or_compute(
        self, models: list[Model], compute: Callable[[], _V], key: Any = None
    ) -> _V | None:
        """Get the value, or compute it on one thread; None if it can't be cached.

        `compute` must check the layers' parameters.
        """
        found = self.find(models, key)
        if found is not None or not all(map(_can_seal, models)):
            return found
        with derived_lock:  # only one thread computes the value
            found = self.find(models, key)
            if found is not None:
                return found
            seals = [_seal(get_store(model)) for model in models]
            stamps = list(map(get_stamp, models))
            old, self._cached = self._cached, None
            if old and old.is_for(models, key) and old.has_equal_params():
                new = old._replace(value=self.renew(old.value), stamps=stamps)
            else:
                del old  # free its memory before computing a value of equal size
                copies = [seal.copy_params() for seal in seals]
                with one_thread():
                    new = _Cached(key, models, stamps, copies, compute())
                if not (new.is_sealed() and all(map(Seal.equals, seals, copies))):
                    return new.value  # another thread is changing parameters
            self._cached = new
            return new.value

    def renew(self, value: _V) -> _V:
        """Return a replacement for a value whose parameters were accessed, but equal.

        Override this for values that callers modify: another thread may write results
        to the old value that it computed with different parameters.
        """
        return value


def _can_seal(model: Model) -> bool:
    """True if parameters are numpy arrays without another proxy."""
    store = get_store(model)
    return isinstance(store.proxy, Seal | None) and all(
        isinstance(array, np.ndarray) for array in get_arrays(store).values()
    )


def _seal(store: ParamServer) -> Seal:
    if store.proxy is None:
        store.proxy = Seal(store)
    return store.proxy
