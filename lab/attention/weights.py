"""Attention weights of a pipeline's encoders, and `attention_weights`, a component that
stores them in Docs.

    spacy evaluate MODEL test.spacy --code lab/attention/weights.py

This file must not import other modules of the lab, which `spacy` would not find.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, to_numpy

from spacy_hashembeds.papers.why_attention import selfattention
from spacy_hashembeds.thinc_internals import chain_forward, get_forward
from spacy_hashembeds.tools.analyze.embedders import find_models
from spacy_hashembeds.tools.display import Part, Table

EXTENSION = "attention_weights"


@Language.factory("attention_weights", assigns=[f"doc._.{EXTENSION}"])
def make_attention_weights(nlp: Language, name: str) -> "AttentionWeights":
    """Build the component `attention_weights`."""
    return AttentionWeights(nlp)


class AttentionWeights:
    """Store the attention weights of encoders in `doc._.attention_weights`.

    The value is a dict from the name of each component with an `AttBiLSTMEncoder` to an
    array of shape `(num_heads, tokens, tokens)`. Embedding and LSTMs run twice.

    RAISES (ValueError): When called, if no component has such an encoder.
    """

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        if not Doc.has_extension(EXTENSION):
            Doc.set_extension(EXTENSION, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Store the weights of a Doc."""
        attending = find_attending(self.nlp).items()
        doc._.set(EXTENSION, {name: read_attention(of, doc) for name, of in attending})
        return doc


def find_attending(nlp: Language) -> dict[str, Model]:
    """Return each `spacy.Tok2Vec.v2` whose encoder has attention, by its component."""
    models = find_models(nlp)
    found = {name: x for name, model in models for x in model.walk() if _attends(x)}
    if not found:
        raise ValueError(
            "The pipeline should have an encoder with attention, "
            "spacy-hashembeds.AttBiLSTMEncoder.v1, but has none."
        )
    return found


def _attends(node: Model) -> bool:
    # copies, which `replace_listeners` makes, lack references
    if get_forward(node) is not chain_forward:
        return False
    layers = node.layers[-1].layers
    return bool(layers) and get_forward(layers[-1]) is selfattention.forward


def read_attention(tok2vec: Model, doc: Doc) -> NDArray[np.float32]:
    """Return the weights of §3.6, `(num_heads, tokens, tokens)`. Last axes sum to 1."""
    *embed, encode = tok2vec.layers
    *below, attention = encode.layers
    H: Any = [doc]
    for layer in (*embed, *below):
        H = layer.predict(H)
    (X,), n = H, attention.attrs["num_heads"]
    width = attention.get_dim("nI") // n
    queries, keys = (
        (X @ attention.get_param(name)).reshape(len(X), n, width).transpose(1, 0, 2)
        for name in ("query", "key")
    )
    scores = queries @ keys.transpose(0, 2, 1) / width**0.5
    return to_numpy(attention.ops.softmax(scores) if len(X) else scores)


def list_attention(nlp: Language, text: str) -> dict[str, Any]:
    """List the attention weights of a text.

    RETURNS (dict[str, Any]): `tokens`, and `components`: for each its `name`, and its
        `heads`, matrices as lists, with a row for each token that attends.
    """
    attending = find_attending(nlp)
    doc = nlp.make_doc(text)
    return {
        "text": text,
        "tokens": [token.text for token in doc],
        "components": [
            {"name": name, "heads": weights.astype("float64").round(6).tolist()}
            for name, tok2vec in attending.items()
            for weights in [read_attention(tok2vec, doc)]
        ],
    }


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Tabulate the token with the largest weight, for each token and head."""
    tokens = [token if token.strip() else repr(token) for token in data["tokens"]]
    for component in data["components"]:
        heads = component["heads"]
        most = [[max(zip(row, tokens, strict=True)) for row in head] for head in heads]
        rows = [
            (token, *(f"{head[i][1]} {100 * head[i][0]:.0f}" for head in most))
            for i, token in enumerate(tokens)
        ]
        header = ("Token", *(f"Head {n}" for n in range(1, len(heads) + 1)))
        title = f"Attention in '{component['name']}'"
        legend = "The token with the largest weight of each head, in percent."
        yield Table(title, legend, header, rows, aligns="l" * len(header))
