"""What the output of a BiLSTM encoder is made of, each part alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spacy.language import Language
from thinc.api import Model
from thinc.types import Floats2d

from ...layers import bilstm, selfattention
from .attention import find_tok2vecs

#: What the parts are called: hidden states, what all heads find, and what one finds.
HIDDEN, CONTEXT = "H", "C"


def find_layer(nlp: Language) -> Model:
    """Find the layer that gives the output of a pipeline's BiLSTM encoder.

    RAISES (ValueError): If there is none, or more than one.
    """
    layers = {
        name: layer
        for name, tok2vec in find_tok2vecs(nlp).items()
        if (layer := _find_last(tok2vec.get_ref("encode"))) is not None
    }
    if len(layers) != 1:
        components = ", ".join(nlp.pipe_names) or "none"
        raise ValueError(
            "The pipeline should have one BiLSTM encoder of ours, such as "
            "spacy-hashembeds.AttBiLSTMEncoder.v1, whose parts can be left alone, but "
            f"has {len(layers)} in its components: {components}."
        )
    (layer,) = layers.values()
    return layer


def _find_last(encode: Model) -> Model | None:
    last = encode.layers[-1] if encode.layers else encode
    return last if last._func in (selfattention.forward, bilstm.forward) else None


def find_parts(layer: Model) -> dict[str, slice]:
    """Say which columns of the output belong to which part.

    layer (Model): From `find_layer`.
    RETURNS (dict[str, slice]): By the name of the part: with attention "H", the hidden
        states, "C", what all heads find, and "C1", "C2" and so on, what each one finds;
        else the "forward" and the "backward" hidden states.
    """
    nO = layer.get_dim("nO")
    if layer._func is bilstm.forward:
        middle = nO // 2
        return dict(
            zip(bilstm.DIRECTIONS, (slice(0, middle), slice(middle, nO)), strict=True)
        )
    nI, n_heads = layer.get_dim("nI"), layer.attrs["num_heads"]
    width = nI // n_heads
    heads = {
        f"{CONTEXT}{i + 1}": slice(nI + i * width, nI + (i + 1) * width)
        for i in range(n_heads)
    }
    return {HIDDEN: slice(0, nI), CONTEXT: slice(nI, nO), **heads}


@contextmanager
def leaving_alone(layer: Model, columns: slice) -> Iterator[None]:
    """Make a layer give zeros in all columns but some, as long as the context lasts.

    layer (Model): From `find_layer`. It is not for other threads meanwhile.
    columns (slice): From `find_parts`.
    """
    forward = layer._func

    def forward_part(model: Model, Xs: Any, is_train: bool) -> Any:
        Ys, backprop = forward(model, Xs, is_train)
        return [_leave_alone(model, Y, columns) for Y in Ys], backprop

    layer._func = forward_part
    try:
        yield
    finally:
        layer._func = forward


def _leave_alone(model: Model, Y: Floats2d, columns: slice) -> Any:
    part = model.ops.xp.zeros_like(Y)
    part[:, columns] = Y[:, columns]
    return part
