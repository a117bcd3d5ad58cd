"""The scores of a text classifier, and labels that are added later."""

from functools import partial

from thinc.api import Linear, Logistic, Model, Softmax, chain, resizable
from thinc.initializers import glorot_uniform_init
from thinc.layers.resizable import resize_linear_weighted, resize_model
from thinc.types import Floats2d

#: The bias of a label that is added to a softmax: it begins with next to no share of
#: the scores. spaCy's own models have -5000, from where no training brings it back.
UNLIKELY = -10.0


def score_labels(
    nO: int | None, *, exclusive_classes: bool
) -> Model[Floats2d, Floats2d]:
    """Score labels: a softmax where they exclude each other, else a logistic each.

    The softmax begins with random weights. With zeros, as in `spacy.TextCatReduce.v1`,
    nothing below would get a gradient at first.
    """
    if exclusive_classes:
        softmax: Model[Floats2d, Floats2d] = Softmax(nO, init_W=glorot_uniform_init)
        return _let_grow(softmax, b=UNLIKELY)
    linear: Model[Floats2d, Floats2d] = Linear(nO)
    return chain(_let_grow(linear), Logistic())


def _let_grow(layer: Model, **fill_defaults: float) -> Model:
    """Have a layer resized when labels are added.

    fill_defaults (float): What parameters begin with for a new label, 0 by default.
    """
    resize = partial(resize_linear_weighted, fill_defaults=fill_defaults)
    return resizable(layer, resize_layer=resize)


def offer_labels(model: Model, nO: int | None, *, exclusive_classes: bool) -> Model:
    """Say what spaCy's text categorizers ask of a model.

    nO (int, optional): The number of labels, if it is known.
    """
    model.attrs["multi_label"] = not exclusive_classes
    model.attrs["resize_output"] = resize_output
    model.set_ref("output_layer", _find_resizable(model)[0].layers[0])
    if nO is not None:
        model.set_dim("nO", nO)
    return model


def resize_output(model: Model, nO: int) -> Model:
    """Give a classifier, or all members of an ensemble, another number of labels."""
    for node in _find_resizable(model):
        resize_model(node, nO)
    model.set_ref("output_layer", _find_resizable(model)[0].layers[0])
    model.set_dim("nO", nO, force=True)
    return model


def _find_resizable(model: Model) -> list[Model]:
    return [node for node in model.walk() if "resize_layer" in node.attrs]
