"""The shape that all multi-attribute embedders share.

One table for each token attribute, their rows side by side, and a Maxout layer that
mixes them. The tree of nodes is that of `spacy.MultiHashEmbed.v2`, node for node:
this is why weights saved by one load into the other, and why equal seeds initialise
both to equal values.
"""

from collections.abc import Callable, Sequence
from typing import cast

from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import (
    Maxout,
    Model,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.layers.chain import forward as chain_forward
from thinc.layers.chain import init as chain_init
from thinc.types import Floats2d, Ragged

InT = list[Doc]
OutT = list[Floats2d]


def mix_attributes(
    name: str,
    *,
    attrs: Sequence[str],
    tables: Sequence[Model],
    width: int,
    maxout_pieces: int,
    dropout: float | None,
    include_static_vectors: bool,
) -> Model[InT, OutT]:
    """Embed several attributes of each token and mix them to one vector.

    name (str): The name of the layer.
    attrs (Sequence[str]): The attributes, a column of features each.
    tables (Sequence[Model]): For each attribute the layer that embeds its column.
    width (int): The width of each table and of the output.
    maxout_pieces (int): Linear pieces of the Maxout layer.
    dropout (float, optional): Dropout after the Maxout layer, none at all if None.
    include_static_vectors (bool): Whether to mix in the vectors of the vocab,
        projected to the width.

    *Input:* `n` Docs. *Output:* for each a float32 array of shape `(tokens, width)`.
    """
    features: Model[InT, Ragged] = chain(
        FeatureExtractor(list(attrs)),
        cast(Model, list2ragged()),
        with_array(concatenate(*tables)),
    )
    layers = features.layers
    if include_static_vectors:
        vectors = StaticVectors(width, dropout=dropout)
        layers = [concatenate(features, vectors)]
    n_inputs = len(tables) + include_static_vectors
    mixer = Maxout(
        width, width * n_inputs, nP=maxout_pieces, dropout=dropout, normalize=True
    )
    return Model(
        name,
        forward,
        init=init,
        dims={"nO": width},
        layers=[*layers, with_array(mixer), cast(Model, ragged2list())],
        attrs={"include_static_vectors": include_static_vectors},
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    if any(len(doc) for doc in docs):
        # Not a chain of Thinc's inside this layer: that would be a node more than
        # spaCy's tree has, and weights would no longer load from one into the other.
        return chain_forward(model, docs, is_train)
    # Thinc's Maxout and LayerNorm can't backpropagate through zero rows.
    width = model.get_dim("nO")
    return [model.ops.alloc2f(0, width) for _ in docs], lambda dY: []


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X and model.attrs["include_static_vectors"] and not X[0].vocab.vectors.shape[1]:
        raise ValueError(
            "'include_static_vectors' is true, but the pipeline has no vectors. Set "
            "[initialize] vectors to a package or folder that has them, or "
            "include_static_vectors = false."
        )
    chain_init(model, X, Y)
