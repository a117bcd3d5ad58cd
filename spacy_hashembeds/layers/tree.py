"""Recognise nodes by what they compute, so that nothing but that is ever bypassed.

Somebody may have wrapped or replaced any of Thinc's layers: by `with_nvtx_range`, for
instance, which leaves the name.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from thinc.api import Model
from thinc.layers.array_getitem import forward as getitem_forward
from thinc.layers.chain import forward as chain_forward
from thinc.layers.dropout import forward as dropout_forward
from thinc.layers.layernorm import forward as layernorm_forward
from thinc.layers.maxout import forward as maxout_forward

from .identity import Snapshot

_T = TypeVar("_T")

# Attributes of nodes: what spaCy's FeatureExtractor reads, Thinc's array_getitem, and
# our own columns of words.
_WATCHED = {"columns", "index", "attr"}


class UnexpectedNodeError(Exception):
    """A node computes something else than expected, or has other layers."""


class MaxoutLayers(NamedTuple):
    """The layers of Thinc's `Maxout(..., normalize=True)`."""

    maxout: Model
    layernorm: Model
    dropout: Model | None


class _Tree(NamedTuple, Generic[_T]):
    """Findings below a root, and what the nodes were then."""

    parents: list[Model]
    layers: list[list[Model]]
    below: list[Model]
    functions: list[Callable]
    attrs: Snapshot
    found: _T | None

    def is_current(self, root: Model) -> bool:
        """Tell whether nodes compute, have the layers, and read, what they did then."""
        return (
            [root._layers, *map(_get_layers, self.parents)] == self.layers
            and list(map(_get_function, self.below)) == self.functions
            and self.attrs.is_current()
        )


class TreeCache(Generic[_T]):
    """Caches what was found in a tree for as long as its nodes are what they were.

    Neither copied, pickled nor saved with a model. It does not hold the root, so that a
    model goes when it is let go.
    """

    def __init__(self) -> None:
        # one object, so that threads never see a part of it
        self._tree: _Tree[_T] | None = None

    def __reduce__(self) -> tuple:
        return TreeCache, ()

    def get(self, root: Model, find: Callable[[Model], _T]) -> _T | None:
        """Get what a function finds in a model, or None if it finds a stranger's node.

        `find` raises an `UnexpectedNodeError` then. It looks at nothing but functions,
        layers, and which columns nodes read, and returns nothing that holds the root.
        """
        tree = self._tree
        if tree is None or not tree.is_current(root):
            self._tree = tree = _look(root, find)
        return tree.found


def _look(root: Model, find: Callable[[Model], _T]) -> _Tree[_T]:
    below = list(root.walk())[1:]
    parents = [node for node in below if node._layers]
    layers = [list(node._layers) for node in (root, *parents)]
    functions = list(map(_get_function, below))
    attrs = Snapshot(n.attrs for n in below if not _WATCHED.isdisjoint(n.attrs))
    try:
        found = find(root)
    except UnexpectedNodeError:
        found = None
    return _Tree(parents, layers, below, functions, attrs, found)


_get_function, _get_layers = attrgetter("_func"), attrgetter("_layers")


def expect(model: Model, forward: Callable, n_layers: int | None = None) -> list[Model]:
    layers = model.layers
    if model._func is not forward or n_layers not in (None, len(layers)):
        raise UnexpectedNodeError(model.name)
    return layers


def expect_maxout(model: Model) -> MaxoutLayers:
    """Find the layers of `Maxout(..., normalize=True)`, with dropout or without."""
    first, second = expect(model, chain_forward, 2)
    if second._func is not dropout_forward:
        expect(first, maxout_forward, 0)
        expect(second, layernorm_forward, 0)
        return MaxoutLayers(first, second, None)
    maxout, layernorm, _ = expect_maxout(first)
    return MaxoutLayers(maxout, layernorm, second)


def expect_column(model: Model, column: int) -> Model:
    """Find the layer that is given one column of a matrix of integers."""
    selection, layer = expect(model, chain_forward, 2)
    expect(selection, getitem_forward, 0)
    if selection.attrs.get("index") != (slice(0, None), column):
        raise UnexpectedNodeError(selection.name)
    return layer
