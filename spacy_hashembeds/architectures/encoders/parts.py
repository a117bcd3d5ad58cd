"""What the output of a BiLSTM encoder is made of."""

from typing import Any

from spacy.language import Language
from spacy.pipeline import Tok2Vec
from thinc.api import Model

from ...layers import bilstm, selfattention

_LSTMS = (bilstm.forward, bilstm.forward_crossed)


def find_layer(nlp: Language) -> Model:
    """Find the layer that gives the output of a pipeline's BiLSTM encoder.

    RAISES (ValueError): If there is none, or more than one.
    """
    layers = [
        layer
        for _, component in nlp.pipeline
        # `replace_listeners` leaves encoders that nobody listens to
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
        forward, backward = bilstm.DIRECTIONS
        return {forward: slice(0, nO // 2), backward: slice(nO // 2, nO)}
    nI, n_heads = layer.get_dim("nI"), layer.attrs["num_heads"]
    width = nI // n_heads
    starts = range(nI, nI + n_heads * width, width)
    heads = {f"C{i}": slice(a, a + width) for i, a in enumerate(starts, start=1)}
    return {"H": slice(0, nI), "C": slice(nI, nO), **heads}
