"""The shape that all multi-attribute embedders share.

One table for each token attribute, their rows side by side, and a Maxout layer that
mixes them. The tree of nodes is that of `spacy.MultiHashEmbed.v2`, node for node:
this is why weights saved by one load into the other, and why equal seeds initialise
both to equal values.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import intify_attr
from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import (
    Maxout,
    Model,
    NumpyOps,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.layers.chain import forward as chain_forward
from thinc.layers.chain import init as chain_init
from thinc.types import Floats2d, Ragged

from ...kernels.cuda import is_used_by
from ...kernels.cuda_tables import Array
from ...kernels.threads import one_thread
from ...layers import gpumixedembed
from ...layers.folding import Fold, predict_folded
from ...layers.mixedembed import EmbedColumn, begin_update, predict
from .parts import Parts, find_parts
from .static_vectors import embed_vectors, get_key_attr

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
        attrs={"include_static_vectors": include_static_vectors, "fold": Fold()},
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    if not any(len(doc) for doc in docs):
        # Thinc's Maxout and LayerNorm can't backpropagate through zero rows.
        width = model.get_dim("nO")
        return [model.ops.alloc2f(0, width) for _ in docs], lambda dY: []
    parts = find_parts(model)
    if parts is not None and is_used_by(model.ops):
        return _forward_gpu(model, parts, docs, is_train)
    if parts is not None and isinstance(model.ops, NumpyOps):
        return _forward_cpu(model, parts, docs, is_train)
    return forward_reference(model, docs, is_train)


def _forward_cpu(
    model: Model[InT, OutT], parts: Parts, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    keys, more = _get_keys(parts, docs)
    with one_thread():
        if not is_train:
            return _split(_predict(model, parts, keys, more), docs), _backprop_nothing
        Y, backprop_tokens = begin_update(parts.layers, keys, more)

    def backprop(dYs: OutT) -> InT:
        with one_thread():
            backprop_tokens(np.concatenate(cast(list[NDArray], dYs)))
        return []

    return _split(Y, docs), backprop


def _forward_gpu(
    model: Model[InT, OutT], parts: Parts, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    ops: Any = model.ops
    layers = parts.layers
    keys = ops.asarray(_concatenate_attributes(docs, parts.features.attrs["columns"]))
    finders = parts.finders
    embed_more = None
    if parts.vectors is not None:
        embed_more = partial(_embed_vectors_on_gpu, parts.vectors, docs)
    folded = None if is_train else model.attrs["fold"].get(layers, at_once=True)
    if folded is not None:
        Y = gpumixedembed.predict_folded(layers, folded, finders, keys, embed_more)
        return _split(Y, docs), _backprop_nothing
    Y, backprop_tokens = gpumixedembed.embed(
        layers, finders, keys, embed_more, is_train
    )

    def backprop(dYs: OutT) -> InT:
        backprop_tokens(ops.xp.concatenate(dYs))
        return []

    return _split(Y, docs), backprop


def forward_reference(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Run the layers one after the other, as spaCy's `MultiHashEmbed` does.

    What the fast path is tested against, and what runs where somebody has wrapped
    or replaced a layer. Not a chain of Thinc's inside this layer: that would be
    a node more than spaCy's tree has, and weights would no longer load from one into
    the other.
    """
    return chain_forward(model, docs, is_train)


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X and model.attrs["include_static_vectors"] and not X[0].vocab.vectors.shape[1]:
        raise ValueError(
            "'include_static_vectors' is true, but the pipeline has no vectors. Set "
            "[initialize] vectors to a package or folder that has them, or "
            "include_static_vectors = false."
        )
    chain_init(model, X, Y)


def _get_keys(parts: Parts, docs: InT) -> tuple[NDArray, list[EmbedColumn]]:
    """Get the keys of all tokens, and what embeds the columns that have no table."""
    attrs = list(parts.features.attrs["columns"])
    more: list[EmbedColumn] = []
    if parts.vectors is not None:
        vocab = docs[0].vocab
        attrs.append(get_key_attr(vocab))
        more.append(partial(embed_vectors, parts.vectors, vocab))
    return _concatenate_attributes(docs, attrs), more


def _concatenate_attributes(docs: InT, attrs: Sequence[str | int]) -> NDArray:
    """Read attributes of all tokens. *Shape:* `(n, attributes)`, uint64."""
    attr_ids = [intify_attr(attr) for attr in attrs]  # names take longer, for each Doc
    keys = np.concatenate([doc.to_array(attr_ids) for doc in docs])
    return keys.reshape(-1, len(attrs))


def _embed_vectors_on_gpu(
    vectors: Model, docs: InT, is_train: bool
) -> tuple[Array, Callable[[Array], object]]:
    """Run spaCy's StaticVectors, with arrays for its Ragged."""
    output, backprop = cast(Any, vectors(docs, is_train))

    def backprop_array(dX: Array) -> object:
        return backprop(Ragged(vectors.ops.as_contig(dX), output.lengths))

    return output.dataXd, backprop_array


def _predict(
    model: Model, parts: Parts, keys: NDArray, more: list[EmbedColumn]
) -> NDArray:
    folded = model.attrs["fold"].get(parts.layers)
    if folded is None:
        return predict(parts.layers, keys, more)
    return predict_folded(parts.layers, folded, keys, parts.find_rows, more)


def _split(Y: NDArray, docs: InT) -> OutT:
    Ys = []
    start = 0
    for doc in docs:
        Ys.append(Y[start : start + len(doc)])
        start += len(doc)
    return cast(OutT, Ys)


def _backprop_nothing(dY: OutT) -> InT:
    return []
