"""Small pipelines with importance weights, set by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from thinc.api import Model

from spacy_hashembeds import count_symbols
from tests.toy_embedders import get_nodes

#: "coffee" three times, "tea" twice, "the" and "rare" once.
TEXTS = ["coffee tea coffee", "the coffee tea", "rare"]


def make_pipeline(
    texts: Sequence[str] = TEXTS, *, attrs: Sequence[str] = ("ORTH",), **options: Any
) -> Language:
    """Make a pipeline whose components and weights are all ones. Without
    `importance_rows`, the dictionary has the words that occur twice.
    """
    nlp = spacy.blank("en")
    embed = {
        "@architectures": "spacy-hashembeds.MultiWeightedHashEmbed.v1",
        **{"width": 4, "attrs": list(attrs), "rows": [10] * len(attrs)},
        **{"include_static_vectors": False, **options},
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        **{"width": 4, "depth": 1, "window_size": 1, "maxout_pieces": 2},
    }
    model = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    nlp.add_pipe("tok2vec", config={"model": model})
    if options.get("importance_rows") is None:
        count_symbols(nlp, [nlp.make_doc(text) for text in texts], min_freq=2)
    nlp.initialize()
    for layer in get_layers(nlp):
        for name in ("E", "P"):
            layer.set_param(name, np.ones_like(layer.get_param(name)))
    return nlp


def get_layers(nlp: Language) -> list[Model]:
    return get_nodes(nlp.get_pipe("tok2vec").model, "weightedhashembed")


def set_weights(nlp: Language, weights: Mapping[str, Sequence[float]]) -> None:
    """Set the weights of dictionary words in the first table; "" is unknown words."""
    layer = get_layers(nlp)[0]
    symbols = layer.attrs["symbols"].tolist()
    P = layer.get_param("P").copy()
    for word, numbers in weights.items():
        P[1 + symbols.index(nlp.vocab.strings[word]) if word else 0] = numbers
    layer.set_param("P", P)
