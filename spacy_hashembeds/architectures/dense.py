"""Build, validate and resize the dense layers of a classifier."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.tokens import Doc
from thinc.api import (
    Linear,
    Logistic,
    Model,
    Softmax,
    chain,
    glorot_uniform_init,
    resizable,
)
from thinc.types import Floats2d

from ..layers import checks
from ..thinc_internals import (
    chain_forward,
    get_forward,
    linear_forward,
    relu_forward,
    resize_linear_weighted,
    resize_model,
    softmax_forward,
    with_array_forward,
)

#: Initial bias of a label added to a softmax, for a score near 0. spaCy uses -5000,
#: from which training does not recover.
NEW_LABEL_BIAS = -10.0


def score_labels(
    nO: int | None, *, exclusive_classes: bool
) -> Model[Floats2d, Floats2d]:
    """Build a softmax layer if classes are exclusive, else a logistic layer."""
    fill = {"b": NEW_LABEL_BIAS} if exclusive_classes else {}
    resize = partial(resize_linear_weighted, fill_defaults=fill)
    if exclusive_classes:
        # zeros, as in `spacy.TextCatReduce.v1`, would pass no gradient to layers below
        softmax: Any = Softmax(nO, init_W=glorot_uniform_init)
        return resizable(softmax, resize_layer=resize)
    linear: Any = resizable(Linear(nO), resize_layer=resize)
    return chain(linear, Logistic())


def resize_output(model: Model, nO: int) -> Model:
    """Resize the output of a classifier, or of all members of an ensemble."""
    for node in find_resizable(model):
        resize_model(node, nO)
    model.set_ref("output_layer", find_resizable(model)[0].layers[0])
    model.set_dim("nO", nO, force=True)
    return model


def find_resizable(model: Model) -> list[Model]:
    return [node for node in model.walk() if "resize_layer" in node.attrs]


def check_dense(model: Model[list[Doc], Any]) -> None:
    """Validate the dense layers of a chain whenever their weights have been set."""
    model.replace_callbacks(forward, init=model.init)


def forward(
    model: Model[list[Doc], Any], docs: list[Doc], is_train: bool
) -> tuple[Any, Callable[[Any], list[Doc]]]:
    # found in each call, since resizing replaces layers
    for node in model.walk():
        if get_forward(node) in (linear_forward, relu_forward, softmax_forward):
            checks.check_once(node, _check_dense)
    for layer in model.layers:
        if get_forward(layer) is with_array_forward:
            checks.check_integer(layer, "pad", 0, 0)
    return chain_forward(model, docs, is_train)


def _check_dense(model: Model) -> None:
    # None before initialization
    nO: Any = model.maybe_get_dim("nO")
    nI: Any = model.maybe_get_dim("nI")
    checks.check_param(model, "W", (nO, nI))
    checks.check_param(model, "b", (model.get_dim("nO"),))
    if get_forward(model) is softmax_forward:
        checks.check_number(model, "softmax_temperature", 0.001, 1000)
        checks.check_attr_choice(model, "softmax_normalize", (True,))
