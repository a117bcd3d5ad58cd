"""What the output of a BiLSTM encoder is made of."""

from typing import Any

from spacy.language import Language
from spacy.pipeline import Tok2Vec
from thinc.api import Model

from ...layers import bilstm, selfattention

#: What the parts are called: hidden states, what all heads find, and what one finds.
HIDDEN, CONTEXT = "H", "C"

_LSTMS = (bilstm.forward, bilstm.forward_crossed)


def find_layer(nlp: Language) -> Model:
    """Find the layer that gives the output of a pipeline's BiLSTM encoder.

    One that nobody listens to any more, as `replace_listeners` leaves it, does not
    count.

    RAISES (ValueError): If there is none, or more than one.
    """
    layers = [
        layer
        for _, component in nlp.pipeline
        if not isinstance(component, Tok2Vec) or component.listeners
        for layer in _find_layers(getattr(component, "model", None))
    ]
    if len(layers) != 1:
        components = ", ".join(nlp.pipe_names) or "none"
        raise ValueError(
            "The pipeline should have one BiLSTM encoder of ours, such as "
            "spacy-hashembeds.AttBiLSTMEncoder.v1, whose parts can be left alone, but "
            f"has {len(layers)} in its components: {components}."
        )
    return layers[0]


def _find_layers(model: Any) -> list[Model]:
    nodes = list(model.walk()) if isinstance(model, Model) else []
    ends = [node for node in nodes if node._func in (selfattention.forward, *_LSTMS)]
    # attention stands on LSTMs, whose output is not the encoder's
    below = [
        id(layer)
        for node in nodes
        if node.layers and node.layers[-1]._func is selfattention.forward
        for layer in node.layers[:-1]
    ]
    return [node for node in ends if id(node) not in below]


def find_parts(layer: Model) -> dict[str, slice]:
    """Say which columns of the output belong to which part.

    layer (Model): From `find_layer`.
    RETURNS (dict[str, slice]): By the name of the part: with attention "H", the hidden
        states, "C", what all heads find, and "C1", "C2" and so on, what each one finds;
        else the "forward" and the "backward" hidden states.
    """
    nO = layer.get_dim("nO")
    if layer._func in _LSTMS:
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
