"""Recognise nodes by what they compute: see `plan.py`."""

from collections.abc import Callable
from typing import NamedTuple

from thinc.api import Model

from ..thinc_internals import (
    chain_forward,
    dropout_forward,
    get_forward,
    getitem_forward,
    layernorm_forward,
    maxout_forward,
)


class UnexpectedNodeError(Exception):
    """A node computes something else than expected, or has other layers."""


class MaxoutLayers(NamedTuple):
    """The layers of Thinc's `Maxout(..., normalize=True)`."""

    maxout: Model
    layernorm: Model
    dropout: Model | None


def expect(model: Model, forward: Callable, n_layers: int | None = None) -> list[Model]:
    layers = model.layers
    if get_forward(model) is not forward or n_layers not in (None, len(layers)):
        raise UnexpectedNodeError(model.name)
    return layers


def expect_maxout(model: Model) -> MaxoutLayers:
    """Find the layers of `Maxout(..., normalize=True)`, with dropout or without."""
    first, second = expect(model, chain_forward, 2)
    if get_forward(second) is not dropout_forward:
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
