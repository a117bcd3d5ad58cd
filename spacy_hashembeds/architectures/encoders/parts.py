"""What the output of a BiLSTM encoder is made of, and what its heads attend to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.pipeline import Tok2Vec
from spacy.tokens import Doc
from thinc.api import Model, to_numpy
from thinc.layers.chain import forward as chain_forward

from ...layers import bilstm, selfattention

_LSTMS = (bilstm.forward, bilstm.forward_crossed)


def find_layer(nlp: Language) -> Model:
    """Find the layer that gives the output of a pipeline's one BiLSTM encoder."""
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
    """Say which columns of the output of a layer from `find_layer` are which part.

    With attention "H" are the hidden states, "C" what all heads find, and "C1", "C2"
    and so on what each one finds; else there are "forward" and "backward" states.
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


def find_attending(nlp: Language) -> dict[str, Model]:
    """Find each `spacy.Tok2Vec.v2` whose encoder attends, by its component's name.

    If a component has several, the others have a number from 2 on behind its name.
    """
    found = {}
    for name, component in nlp.pipeline:
        model = getattr(component, "model", None)
        nodes = model.walk() if isinstance(model, Model) else ()
        for i, tok2vec in enumerate(filter(_attends, nodes), start=1):
            found[name if i == 1 else f"{name} {i}"] = tok2vec
    return found


def _attends(node: Model) -> bool:
    # by its layers: a copy, as `replace_listeners` makes it, has no references
    if node._func is not chain_forward:
        return False
    layers = node.layers[-1].layers
    return bool(layers) and layers[-1]._func is selfattention.forward


def read_attention(tok2vec: Model, docs: Sequence[Doc]) -> list[NDArray[np.float32]]:
    """Find how much each head of each token takes of each token of its Doc.

    Docs are as they are before the component annotates them. For each the weights of
    §3.6 of the paper, `(num_heads, tokens, tokens)`, of which the last sums up to 1.
    """
    *embed, encode = tok2vec.layers
    *below, attention = encode.layers
    X: Any = list(docs)
    for layer in (*embed, *below):
        X = layer.predict(X)
    return [to_numpy(selfattention.find_weights(attention, H)) for H in X]
