"""Attention of the heads of BiLSTM encoders."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, to_numpy

from ...layers import selfattention
from ...thinc_internals import chain_forward, get_forward


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
    if get_forward(node) is not chain_forward:
        return False
    layers = node.layers[-1].layers
    return bool(layers) and get_forward(layers[-1]) is selfattention.forward


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
