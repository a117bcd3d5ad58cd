"""Plans for prediction, made once per model and checked at each call.

A plan has two parts, each of which is made again when it is no longer valid. The first
part is the layers, found by the forward functions of nodes: if somebody has wrapped or
replaced a node, for instance by `with_nvtx_range`, which keeps the name, the node is
not bypassed. The second part is a value computed from the layers' parameters.

Thinc calls the proxy of a parameter store, if it has one, whenever a parameter is got
or set through its layer: by an optimizer, by `use_params`, or when the layer is loaded,
saved or copied. Here the proxy is a `Seal`, and such an access breaks it. The computed
value is valid while the seal is unbroken, and afterwards if the parameters still equal
the copy that was made when the value was computed. An access that only reads parameters
thus costs one comparison.

If somebody writes, after a prediction, to an array that they got before it, the change
is noticed when they pass the array to `set_param`, for each layer that has the array.
Optimizers, `use_params`, loading and copying do so. Until then, predictions may be
stale, unlike those of Thinc's own layers.
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
    get_store,
    get_token,
    getitem_forward,
    layernorm_forward,
    maxout_forward,
)
from ..threads import derived_lock, one_thread
from .checks import Seal

_L = TypeVar("_L")
_V = TypeVar("_V")

# Methods of ops that fast paths bypass, and packages whose methods may be bypassed.
_METHODS = ("gemm", "maxout", "backprop_maxout", "seq2col", "backprop_seq2col")
_PACKAGES = {"thinc", "thinc_apple_ops", "spacy_hashembeds"}


class UnexpectedNodeError(Exception):
    """A node has another forward function than expected, or other layers."""


class MaxoutLayers(NamedTuple):
    """The layers of Thinc's `Maxout(..., normalize=True)`."""

    maxout: Model
    layernorm: Model
    dropout: Model | None


def expect(model: Model, forward: Callable, n_layers: int | None = None) -> list[Model]:
    """Get the layers of a node. Raise UnexpectedNodeError if it is another one."""
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
    """Find the layer whose input is the given column of a matrix of integers."""
    selection, layer = expect(model, chain_forward, 2)
    expect(selection, getitem_forward, 0)
    if selection.attrs.get("index") != (slice(0, None), column):
        raise UnexpectedNodeError(selection.name)
    return layer


class _Tree(Generic[_L]):
    """Layers found below a root, and the state of all nodes when they were found.

    Parallel lists allow comparisons without running Python for each node or attribute.
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
        # trainers set the dropout rate, on which `find` does not depend
        items = [(d, name) for d in self.dicts for name in d if name != "dropout_rate"]
        self.owners, self.names = [d for d, _ in items], [name for _, name in items]
        values = map(getitem, self.owners, self.names)
        self.values = [root.ops, len(more), *more, *values]
        # last: changes by another thread meanwhile are then noticed by the next call
        try:
            self.found: _L | None = find(root)
        except UnexpectedNodeError:
            self.found = None

    def holds(self, root: Model, more: Sequence[Any]) -> bool:
        """Return True if functions, layers and values of all nodes are unchanged."""
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


class _Kept(NamedTuple, Generic[_V]):
    """A value computed from layers' parameters, with these layers and a further key.

    `tokens` are those of the layers' seals; `copies` are copies of their parameters.
    """

    key: Any
    models: list[Model]
    tokens: list[object]
    copies: list[dict]
    value: _V

    def is_of(self, models: list[Model], key: Any) -> bool:
        """Return True if the value was computed from these layers and this key."""
        return (self.models, self.key) == (models, key)

    def is_sealed(self) -> bool:
        """Return True if the parameters were not accessed."""
        try:
            return list(map(get_token, self.models)) == self.tokens
        except AttributeError:  # a proxy that is no seal
            return False

    def has_equal_params(self) -> bool:
        """Return True if the parameters that were accessed are unchanged."""
        return all(
            seal.token is token or seal.has(copies)
            for seal, token, copies in zip(
                map(get_proxy, self.models), self.tokens, self.copies, strict=True
            )
        )


class Plan(Generic[_L, _V]):
    """Layers with which a model predicts, and a value computed from their parameters.

    A plan is neither copied, pickled nor saved with a model. It has no reference to the
    root, so that the model can be freed.
    """

    def __init__(self) -> None:
        # each replaced as a whole, so that threads never see it incomplete
        self._tree: _Tree[_L] | None = None
        self._kept: _Kept[_V] | None = None

    def __reduce__(self) -> tuple:
        return type(self), ()

    def find_layers(
        self, root: Model, find: Callable[[Model], _L], *more: Any
    ) -> _L | None:
        """Get the result of `find` for a model, or None if it finds an unexpected node.

        `find` raises an `UnexpectedNodeError` for such a node. Its result may depend
        only on functions, layers, ops, attributes and dimensions of nodes, and on
        `more`, and must not refer to the root.
        """
        tree = self._tree
        if tree is None or not tree.holds(root, more):
            self._tree = tree = _Tree(root, find, more)
        return tree.found

    def find(self, models: list[Model], key: Any = None) -> _V | None:
        """Get the value of these layers, or None if a parameter was accessed since.

        key (Any): The rest of what the value depends on, beside parameters.
        """
        kept = self._kept
        if kept and kept.is_of(models, key) and kept.is_sealed():
            return kept.value
        return None

    def get_or_compute(
        self, models: list[Model], compute: Callable[[], _V], key: Any = None
    ) -> _V | None:
        """Get the value, or compute it on one thread; None if it can't be cached.

        `compute` checks the layers' parameters first.
        """
        found = self.find(models, key)
        if found is not None or not all(map(_can_seal, models)):
            return found
        with derived_lock:  # the first computes, and others wait
            found = self.find(models, key)
            if found is not None:
                return found
            seals = [_seal(get_store(model)) for model in models]
            tokens = list(map(get_token, models))
            kept, self._kept = self._kept, None
            if not (kept and kept.is_of(models, key) and kept.has_equal_params()):
                del kept  # free its memory before computing a value as large
                copies = [seal.copy_params() for seal in seals]
                with one_thread():
                    kept = _Kept(key, models, tokens, copies, compute())
                if not (kept.is_sealed() and all(map(Seal.has, seals, copies))):
                    return kept.value  # another thread is changing parameters
            else:
                kept = kept._replace(value=self.renew(kept.value))
            self._kept = kept._replace(tokens=tokens)
            return kept.value

    def renew(self, value: _V) -> _V:
        """Return a replacement for a value after access to its unchanged parameters.

        Override this for values that callers modify: a thread with the old value may
        write results to it that it computed while the parameters were different.
        """
        return value


def _can_seal(model: Model) -> bool:
    """Return True if parameters are numpy arrays without another proxy."""
    store = get_store(model)
    return isinstance(store.proxy, Seal | None) and all(
        isinstance(array, np.ndarray) for array in get_arrays(store).values()
    )


def _seal(store: ParamServer) -> Seal:
    if store.proxy is None:
        store.proxy = Seal(store)
    return store.proxy
