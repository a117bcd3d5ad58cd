"""What the heads of an `AttBiLSTMEncoder` attend to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, to_numpy

from ...layers import selfattention


def find_attending(nlp: Language) -> dict[str, Model]:
    """Find the components with an encoder that attends.

    RETURNS (dict[str, Model]): By the name of the component its `spacy.Tok2Vec.v2`.
        Components that listen to another one are not among them.
    """
    return {
        name: tok2vec
        for name, tok2vec in find_tok2vecs(nlp).items()
        if (layers := tok2vec.get_ref("encode").layers)
        and layers[-1]._func is selfattention.forward
    }


def find_tok2vecs(nlp: Language) -> dict[str, Model]:
    """Find the components with an embedding and an encoder of their own.

    RETURNS (dict[str, Model]): By the name of the component its `spacy.Tok2Vec.v2`.
    """
    return {
        name: node
        for name, component in nlp.pipeline
        if isinstance(model := getattr(component, "model", None), Model)
        for node in model.walk()
        if node.has_ref("embed") and node.has_ref("encode")
    }


def read_attention(tok2vec: Model, docs: Sequence[Doc]) -> list[NDArray[np.float32]]:
    """Find how much each head of each token takes of each token of its Doc.

    tok2vec (Model): One that `find_attending` has found.
    docs (Sequence[Doc]): The Docs, as they are before the component annotates them.
    RETURNS (list[ndarray]): For each Doc the weights of §3.6 of the paper, shape
        `(num_heads, tokens, tokens)`, float32. They are 0 to 1, and the last dimension
        sums up to 1.
    """
    X: Any = tok2vec.get_ref("embed").predict(list(docs))
    *below, attention = tok2vec.get_ref("encode").layers
    for layer in below:
        X = layer.predict(X)
    return [to_numpy(selfattention.find_weights(attention, H)) for H in X]
