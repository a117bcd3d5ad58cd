"""What the heads of an `AttBiLSTMEncoder` attend to."""

from collections.abc import Iterator, Sequence
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
    found = {}
    for name, component in nlp.pipeline:
        model = getattr(component, "model", None)
        tok2vecs = _find_tok2vecs(model) if isinstance(model, Model) else iter(())
        for tok2vec in tok2vecs:
            found[name] = tok2vec
    return found


def _find_tok2vecs(model: Model) -> Iterator[Model]:
    for node in model.walk():
        if node.has_ref("embed") and node.has_ref("encode"):
            layers = node.get_ref("encode").layers
            if layers and layers[-1]._func is selfattention.forward:
                yield node


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
