"""Checks of Thinc's dense layers in a text classifier: Thinc has none of its own."""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.layers.chain import forward as chain_forward
from thinc.layers.linear import forward as linear_forward
from thinc.layers.relu import forward as relu_forward
from thinc.layers.softmax import forward as softmax_forward
from thinc.layers.with_array import forward as with_array_forward
from thinc.types import Floats2d

from ...layers.checks import (
    check_choice,
    check_integer,
    check_number,
    check_param,
)
from ...layers.params import check_once

InT = list[Doc]
OutT = Floats2d


def check_dense(model: Model[InT, OutT]) -> None:
    """Have a chain check its dense layers when their weights arrive."""
    model.replace_callbacks(forward, init=model.init)


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    # each time anew: a layer that grows is another one
    for node in model.walk():
        if node._func in (linear_forward, relu_forward):
            check_once(node, _check_dense, *_get_dims(node))
        elif node._func is softmax_forward:
            check_once(node, _check_softmax, *_get_dims(node), *_get_settings(node))
    for layer in model.layers:
        if layer._func is with_array_forward:
            check_integer(layer, "pad", 0, 0)
    return chain_forward(model, docs, is_train)


def _check_dense(model: Model) -> None:
    check_param(model, "W", _get_dims(model))
    check_param(model, "b", (model.get_dim("nO"),))


def _check_softmax(model: Model) -> None:
    _check_dense(model)
    check_number(model, "softmax_temperature", 0.001, 1000)
    check_choice(model, "softmax_normalize", (True,))


def _get_dims(model: Model) -> tuple[Any, Any]:
    """Get the sizes; None where the layer was never initialised."""
    return model.maybe_get_dim("nO"), model.maybe_get_dim("nI")


def _get_settings(softmax: Model) -> tuple:
    attrs = softmax.attrs
    return attrs["softmax_temperature"], attrs["softmax_normalize"]
