"""Plan of how a model predicts, made once, and asked at each call if it still holds.

A plan has two parts, each of which is made anew when it no longer holds. Layers are
found by what nodes compute, so that nothing but that is ever bypassed: somebody may
have wrapped or replaced any of Thinc's, by `with_nvtx_range` for instance, which leaves
the name. And of their parameters something is computed, until these change.

Thinc asks the proxy of a store of parameters, if there is one, whenever somebody gets
or sets a parameter through its layer: an optimizer, `use_params`, whoever loads, saves
or copies the layer. Here the proxy is a seal, which that breaks. What was computed is
used until then, and afterwards as long as parameters equal a copy of those that it was
computed of: whoever only reads them costs no more than a comparison.

What somebody writes after a prediction, to an array that was got before it, is seen
when `set_param` hands the array back, to each layer that has it, as optimizers,
`use_params`, loading and copying do. Until then predictions may be stale, where Thinc's
own layers would use the new values.
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

# Methods of operations that fast paths bypass, and packages whose own may be bypassed.
_METHODS = ("gemm", "maxout", "backprop_maxout", "seq2col", "backprop_seq2col")
_PACKAGES = {"thinc", "thinc_apple_ops", "spacy_hashembeds"}


class UnexpectedNodeError(Exception):
    """A node computes something else than expected, or has other layers."""


class MaxoutLayers(NamedTuple):
    """The layers of Thinc's `Maxout(..., normalize=True)`."""

    maxout: Model
    layernorm: Model
    dropout: Model | None


def expect(model: Model, forward: Callable, n_layers: int | None = None) -> list[Model]:
    """Get the layers of a node that computes `forward`, else UnexpectedNodeError."""
    layers = model.layers
    if get_forward(model) is not forward or n_layers not in (None, len(layers)):
        raise UnexpectedNodeError(model.name)
    return layers


def expect_maxout(model: Model) -> MaxoutLayers:
    """Find the layers of `Maxout(..., normalize=True)`, with dropout or without."""
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
    """Find the layer that is given one column of a matrix of integers."""
    selection, layer = expect(model, chain_forward, 2)
    expect(selection, getitem_forward, 0)
    if selection.attrs.get("index") != (slice(0, None), column):
        raise UnexpectedNodeError(selection.name)
    return layer


class _Tree(Generic[_L]):
    """Layers that were found below a root, and all that they were found by.

    Lists are side by side, so that no Python is run for each node or attribute.
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
        # trainers set the rate of dropout, which finds nothing
        items = [(d, name) for d in self.dicts for name in d if name != "dropout_rate"]
        self.owners, self.names = [d for d, _ in items], [name for _, name in items]
        values = map(getitem, self.owners, self.names)
        self.values = [root.ops, len(more), *more, *values]
        # last: what another thread changes meanwhile is then seen by the next call
        try:
            self.found: _L | None = find(root)
        except UnexpectedNodeError:
            self.found = None

    def holds(self, root: Model, more: Sequence[Any]) -> bool:
        """Return True if nodes have the functions, layers and values of that time."""
        try:
            values = map(getitem, self.owners, self.names)
            return (
                all(map(is_, (root.ops, len(more), *more, *values), self.values))
                and sum(map(len, self.dicts)) == self.n_items
                and list(map(get_forward, self.nodes)) == self.functions
                and [get_layers(root), *map(get_layers, self.parents)] == self.layers
            )
        except KeyError:  # an attribute that is no longer there
            return False


class _Kept(NamedTuple, Generic[_V]):
    """A value, the layers of whose parameters it was computed, and what else it is of.

    The tokens are those of the layers' seals, and the copies are of their parameters.
    """

    key: Any
    models: list[Model]
    tokens: list[object]
    copies: list[dict]
    value: _V

    def is_of(self, models: list[Model], key: Any) -> bool:
        """Return True if it was computed of just these."""
        return (self.models, self.key) == (models, key)

    def is_sealed(self) -> bool:
        """Return True if nobody got at the parameters."""
        try:
            return list(map(get_token, self.models)) == self.tokens
        except AttributeError:  # somebody else's proxy
            return False

    def has_equal_params(self) -> bool:
        """Return True if those that somebody got at are what they were."""
        return all(
            seal.token is token or seal.has(copies)
            for seal, token, copies in zip(
                map(get_proxy, self.models), self.tokens, self.copies, strict=True
            )
        )


class Plan(Generic[_L, _V]):
    """The layers that a model predicts with, and what was computed of their parameters.

    Neither copied, pickled nor saved with a model. It does not hold the root, so that a
    model goes when it is let go.
    """

    def __init__(self) -> None:
        # each replaced as a whole, so that threads never see a part of it
        self._tree: _Tree[_L] | None = None
        self._kept: _Kept[_V] | None = None

    def __reduce__(self) -> tuple:
        return type(self), ()

    def find_layers(
        self, root: Model, find: Callable[[Model], _L], *more: Any
    ) -> _L | None:
        """Get what a function finds in a model, or None if it finds a stranger's node.

        `find` raises an `UnexpectedNodeError` then. It looks at functions, layers,
        operations, attributes and dimensions, and at `more`, and returns nothing that
        holds the root.
        """
        tree = self._tree
        if tree is None or not tree.holds(root, more):
            self._tree = tree = _Tree(root, find, more)
        return tree.found

    def find(self, models: list[Model], key: Any = None) -> _V | None:
        """Find what was computed, if nobody got at the parameters of just these layers.

        key (Any): What it depends on beside parameters.
        """
        kept = self._kept
        if kept and kept.is_of(models, key) and kept.is_sealed():
            return kept.value
        return None

    def get_or_compute(
        self, models: list[Model], compute: Callable[[], _V], key: Any = None
    ) -> _V | None:
        """Get what was computed, or compute it on one thread; None if it can't be kept.

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
                del kept  # it may be as large as what is computed
                copies = [seal.copy_params() for seal in seals]
                with one_thread():
                    kept = _Kept(key, models, tokens, copies, compute())
                if not (kept.is_sealed() and all(map(Seal.has, seals, copies))):
                    return kept.value  # of what another thread is changing
            else:
                kept = kept._replace(value=self.renew(kept.value))
            self._kept = kept._replace(tokens=tokens)
            return kept.value

    def renew(self, value: _V) -> _V:
        """Return what replaces a value whose parameters were accessed and are equal.

        Override for values that callers write to: a thread that still has the old value
        may write to it what it read while the parameters were different.
        """
        return value


def _can_seal(model: Model) -> bool:
    """Return True if parameters are numpy's, and no other proxy serves them."""
    store = get_store(model)
    return isinstance(store.proxy, Seal | None) and all(
        isinstance(array, np.ndarray) for array in get_arrays(store).values()
    )


def _seal(store: ParamServer) -> Seal:
    if store.proxy is None:
        store.proxy = Seal(store)
    return store.proxy
