"""Embed the distinct keys of a batch once, column by column, and mix them, on the CPU.

What `with_array(concatenate(*tables))` and `with_array(Maxout(..., normalize=True))`
compute together, by the same layers, but in another order:

- A column has fewer distinct values than a batch has distinct tokens, and these are far
  fewer than tokens. Each value is embedded, and multiplied with its column's part of
  Maxout's weights, once.
- The products are summed for each distinct token (`W x = W₁ x₁ + … + W_c x_c`), whose
  maximum and layer normalisation are computed once.
- Gradients of copies are summed before they go back the same way.

Prediction goes through folded tables where it can: see `folding.py`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.distinct import Distinct, find_distinct
from ...kernels.mixing import begin_finish, finish
from ...kernels.sums import gather_add
from ..dropout import draw_mask
from ..maxout import inc_maxout_grads, lay_out
from .column import Backprop, Mixer


class EmbeddedColumn(NamedTuple):
    """Distinct values of a column, their vectors, `(m, width)`, and its part of W."""

    keys: Distinct
    X: NDArray
    backprop: Backprop
    W: NDArray


def predict(mixer: Mixer, keys: NDArray) -> NDArray:
    tokens = find_distinct(keys)
    W, norm = lay_out(mixer.maxout, mixer.layernorm)
    columns = _embed_columns(mixer, tokens, W, is_train=False)
    return tokens.gather(finish(_mix(columns), norm))


def begin_update(mixer: Mixer, keys: NDArray) -> tuple[NDArray, Callable]:
    mixer.check()
    tokens = find_distinct(keys)
    W, norm = lay_out(mixer.maxout, mixer.layernorm)
    columns = _embed_columns(mixer, tokens, W, is_train=True)
    Y, backprop_mixed = begin_finish(_mix(columns), norm)
    Y = tokens.gather(Y)
    # numbers of each token are dropped on its own, copies of one too
    mask = None if mixer.dropout is None else draw_mask(mixer.dropout, Y.shape)

    def backprop(dY: NDArray) -> None:
        dY = tokens.scatter_add(dY if mask is None else dY * mask)
        d_norm = norm.make_zeros()
        d_mixed = backprop_mixed(dY, d_norm)
        dW = np.empty_like(W)
        for column, dW_column in zip(columns, mixer.split_columns(dW), strict=True):
            d_product = column.keys.scatter_add(d_mixed)
            np.matmul(d_product.T, column.X, out=dW_column)
            column.backprop(d_product @ column.W)
        inc_maxout_grads(mixer.maxout, mixer.layernorm, dW, d_norm)

    return Y if mask is None else Y * mask, backprop


def _embed_columns(
    mixer: Mixer, tokens: Distinct, W: NDArray, *, is_train: bool
) -> list[EmbeddedColumn]:
    columns = []
    parts = mixer.split_columns(W)
    for column, values, part in zip(mixer.columns, tokens.values.T, parts, strict=True):
        keys = find_distinct(values)
        X, backprop = column.embed(keys.values, is_train)
        columns.append(EmbeddedColumn(keys, X, backprop, part))
    return columns


def _mix(columns: Sequence[EmbeddedColumn]) -> NDArray:
    """Multiply the values of each column, and sum the products of each token."""
    n_values = sum(len(column.X) for column in columns)
    products = np.empty((n_values, len(columns[0].W)), dtype="float32")
    indices, start = [], 0
    for column in columns:
        stop = start + len(column.X)
        np.matmul(column.X, column.W.T, out=products[start:stop])
        indices.append(column.keys.copies + start)
        start = stop
    return gather_add(products, np.stack(indices, axis=1))
