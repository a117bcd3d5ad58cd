from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.vectors import Mode, Vectors
from spacy.vocab import Vocab
from thinc.api import Model

from ...layers.mixedembed import inc_grad
from ...layers.table import apply_dropout
from ...layers.watch import peek


def embed_vectors(
    model: Model, vocab: Vocab, keys: NDArray, is_train: bool
) -> tuple[NDArray, Callable[[NDArray], None]]:
    """Do what spaCy's StaticVectors layer does, for distinct keys instead of Docs.

    model (Model): The StaticVectors layer, whose weights are used.
    keys (NDArray): The values of `get_key_attr`. *Shape:* `(n,)`, uint64.
    RETURNS (tuple): The projected vectors, of shape `(n, nO)`, zero where there is no
        vector; and what takes their gradient back to the weights.
    """
    W = peek(model, "W")
    V, is_missing = _get_vectors(vocab, keys)
    projected = V @ W.T
    projected[is_missing] = 0
    output, backprop_dropout = apply_dropout(model, cast(Any, projected), is_train)

    def backprop(d_output: NDArray) -> None:
        # As in spaCy, words without a vector are not left out here.
        inc_grad(model, "W", cast(NDArray, backprop_dropout(cast(Any, d_output))).T @ V)

    return cast(NDArray, output), backprop


def get_key_attr(vocab: Vocab) -> str | int:
    """Say which attribute of a token its vector is found by."""
    return getattr(vocab.vectors, "attr", "ORTH")


def _get_vectors(vocab: Vocab, keys: NDArray) -> tuple[NDArray, NDArray]:
    vectors = vocab.vectors
    if isinstance(vectors, Vectors) and vectors.mode == Mode.default:
        rows = vectors.find(keys=keys)
        return np.ascontiguousarray(vectors.data[rows]), rows < 0
    # floret, or another package's vectors: there is one for every key
    return np.asarray(vectors.get_batch(keys)), np.zeros(len(keys), dtype=bool)
