"""`attention_weights`: a component that keeps what an encoder attended to."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model, to_numpy

from ..layers import selfattention
from ..thinc_internals import chain_forward, get_forward

EXTENSION = "attention_weights"


@Language.factory("attention_weights", assigns=[f"doc._.{EXTENSION}"])
def make_attention_weights(nlp: Language, name: str) -> "AttentionWeights":
    """Build the component `attention_weights`: see `AttentionWeights`."""
    return AttentionWeights(nlp, name)


class AttentionWeights:
    """Keeps in `doc._.attention_weights` what encoders of the pipeline attended to.

    That is a dict: by the name of each component with an `AttBiLSTMEncoder` an array of
    shape `(num_heads, tokens, tokens)`, as `read_attention` tells. Embedding and LSTMs
    run once more for it, so it is for looking at a pipeline, and no part of one in
    service: `nlp.add_pipe("attention_weights")` where it is wanted. Memory grows with
    the square of a Doc's length.

    RAISES (ValueError): Once it is called, if no component has such an encoder, or if
        it was taken from another pipeline.
    """

    def __init__(self, nlp: Language, name: str) -> None:
        self.nlp, self.name = nlp, name
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
                    f"The component '{self.name}' knows the encoders of another "
                    "pipeline. Don't take it from there (source=...): add a new one, "
                    "nlp.add_pipe('attention_weights')."
                )
            attending = find_attending(self.nlp)
            if not attending:
                raise ValueError(
                    f"The component '{self.name}' needs one with an encoder that "
                    "attends, spacy-hashembeds.AttBiLSTMEncoder.v1, but the pipeline "
                    f"has none: {', '.join(self.nlp.pipe_names)}."
                )
            found = {name: read_attention(attending[name], docs) for name in attending}
            for i, doc in enumerate(docs):
                doc._.set(EXTENSION, {name: found[name][i] for name in found})
                yield doc


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
