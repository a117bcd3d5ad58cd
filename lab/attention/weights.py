"""Attention weights of a pipeline's encoders, listed and shown, and
`attention_weights`, a component that keeps them in Docs.

    spacy evaluate MODEL test.spacy --code lab/attention/weights.py

The file imports nothing else of the lab, which `spacy` would not find.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model, to_numpy

from spacy_hashembeds.papers.why_attention import selfattention
from spacy_hashembeds.thinc_internals import chain_forward, get_forward
from spacy_hashembeds.tools.display import Part, Table

EXTENSION = "attention_weights"


@Language.factory("attention_weights", assigns=[f"doc._.{EXTENSION}"])
def make_attention_weights(nlp: Language, name: str) -> "AttentionWeights":
    """Build the component `attention_weights`: see `AttentionWeights`."""
    return AttentionWeights(nlp)


class AttentionWeights:
    """Keeps in `doc._.attention_weights` what encoders of the pipeline attended to.

    That is a dict: by the name of each component with an `AttBiLSTMEncoder` an array of
    shape `(num_heads, tokens, tokens)`: see `read_attention`. Embedding and LSTMs run
    once more for it, and memory grows with the square of a Doc's length.

    RAISES (ValueError): Once it is called, if no component has such an encoder, or if
        it was taken from another pipeline.
    """

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        if not Doc.has_extension(EXTENSION):
            Doc.set_extension(EXTENSION, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Keep the weights of one Doc."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Keep the weights of many Docs."""
        for docs in minibatch(stream, size=batch_size):
            if any(doc.vocab is not self.nlp.vocab for doc in docs):
                raise ValueError(
                    "'attention_weights' was taken from another pipeline (source=...), "
                    "whose encoders it knows. Add a new one: nlp.add_pipe."
                )
            attending = find_attending(self.nlp)
            found = {name: read_attention(attending[name], docs) for name in attending}
            for i, doc in enumerate(docs):
                doc._.set(EXTENSION, {name: found[name][i] for name in found})
                yield doc


def find_attending(nlp: Language) -> dict[str, Model]:
    """Find each `spacy.Tok2Vec.v2` whose encoder attends, by its component's name.

    If a component has several, the others have a number from 2 on behind its name.

    RAISES (ValueError): If there is none.
    """
    found = {}
    for name, component in nlp.pipeline:
        model = getattr(component, "model", None)
        nodes = model.walk() if isinstance(model, Model) else ()
        for i, tok2vec in enumerate(filter(_attends, nodes), start=1):
            found[name if i == 1 else f"{name} {i}"] = tok2vec
    if not found:
        raise ValueError(
            "The pipeline should have an encoder that attends, "
            "spacy-hashembeds.AttBiLSTMEncoder.v1, but has none in its components: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
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
    return [to_numpy(find_weights(attention, H)) for H in X]


def find_weights(model: Model, X: Any) -> Any:
    """Find the weights that a `SelfAttention` layer takes for one Doc: see above."""
    ops, n = model.ops, model.attrs["num_heads"]
    width = model.get_dim("nI") // n
    queries, keys = (
        (X @ model.get_param(name)).reshape(len(X), n, width).transpose(1, 0, 2)
        for name in ("query", "key")
    )
    scores = queries @ keys.transpose(0, 2, 1) / width**0.5
    return ops.softmax(scores) if len(X) else scores


def list_attention(nlp: Language, text: str) -> dict[str, Any]:
    """List how much each token takes of each token of a text.

    RETURNS (dict[str, Any]): `tokens`, and in `components` for each one its `name` and
        its `heads`: for each head a matrix of weights from 0 to 1, as lists, whose rows
        are of the tokens that look, and its columns of those that are looked at.
    """
    attending = find_attending(nlp)
    doc = nlp.make_doc(text)
    if not len(doc):
        raise ValueError("The text should have tokens, but is empty.")
    return {
        "text": text,
        "tokens": [token.text for token in doc],
        "components": [
            {"name": name, "heads": weights.astype("float64").round(6).tolist()}
            for name, tok2vec in attending.items()
            for weights in read_attention(tok2vec, [doc])
        ],
    }


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Show which token each head of each token looks at most."""
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
        legend = "The token that each head of a token takes most of, in percent."
        yield Table(title, legend, header, rows, aligns="l" * len(header))
