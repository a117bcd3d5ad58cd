"""Embed the distinct keys of a batch once, column by column, and mix them, on the CPU.

What `with_array(concatenate(*tables))` and `with_array(Maxout(..., normalize=True))`
compute together, by the same layers and with their parameters, but in another order:

- A batch has far fewer distinct tokens than tokens, and a column of their keys has
  fewer distinct values still. Each value is embedded once.
- Maxout's weights are cut by column. Each value is multiplied with its part, and the
  products are summed for each distinct token: `W x = W₁ x₁ + … + W_c x_c`.
- The maximum and the layer normalisation happen once for each distinct token.
- Gradients of copies are summed before they go back the same way.

Prediction goes through folded tables (see `folding.py`), which hold the products for
all rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.distinct import (
    Distinct,
    find_distinct,
    find_distinct_rows,
)
from ...kernels.mixing import Norm, begin_finish, finish, pieces_first
from ...kernels.sums import gather_add
from ..dropout import draw_mask
from ..gradients import inc_grad, inc_maxout_grads
from ..params import peek
from .column import Backprop
from .folding import FoldedTables
from .mixer import Mixer

#: Up to so many tokens, sorting out the copies takes longer than it saves.
FEW_TOKENS = 256

# Values at a time, so that what is gathered for them stays in the cache.
_BLOCK = 64

#: Rows of a table for each value, and what they are multiplied with, if not with 1.
Rows = tuple[NDArray, NDArray | None]


@dataclass(frozen=True)
class EmbeddedColumn:
    """The distinct values of one column in a batch, embedded.

    keys (Distinct): The values.
    start (int): Where their products begin among those of all columns.
    X (NDArray): What the layer of the column makes of them. *Shape:* `(m, width)`.
    backprop (Callable[[NDArray], object]): Takes the gradient of X to the parameters.
    W (NDArray): The column's part of Maxout's weights. *Shape:* `(nP * nO, width)`.
    """

    keys: Distinct
    start: int
    X: NDArray
    backprop: Backprop
    W: NDArray

    @property
    def stop(self) -> int:
        """Where the products of the next column begin."""
        return self.start + len(self.X)


def predict(mixer: Mixer, folded: FoldedTables | None, keys: NDArray) -> NDArray:
    """Embed tokens by their keys.

    folded (FoldedTables, optional): The folded tables, if they can be used.
    keys (NDArray): A column for each of the mixer's. *Shape:* `(n, columns)`, uint64,
        n > 0.
    RETURNS (NDArray): *Shape:* `(n, nO)`, float32.
    """
    if folded is not None:
        return _predict_folded(mixer, folded, keys)
    tokens = find_distinct_rows(keys)
    W, norm = _lay_out(mixer)
    columns = _embed_columns(mixer, tokens, W, is_train=False)
    return tokens.gather(finish(_mix(columns), norm))


def begin_update(mixer: Mixer, keys: NDArray) -> tuple[NDArray, Callable]:
    """Embed tokens by their keys, in training: see `predict`.

    RETURNS (tuple): The output of `predict`, after dropout, and what takes its gradient
        to the parameters of all layers.
    """
    mixer.check()
    tokens = find_distinct_rows(keys)
    W, norm = _lay_out(mixer)
    columns = _embed_columns(mixer, tokens, W, is_train=True)
    Y, backprop_mixed = begin_finish(_mix(columns), norm)
    Y, backprop_dropout = _begin_dropout(mixer, tokens.gather(Y))

    def backprop(dY: NDArray) -> None:
        dY = tokens.scatter_add(backprop_dropout(dY))
        gradients = norm.make_zeros()
        d_mixed = backprop_mixed(dY, gradients)
        inc_grad(mixer.layernorm, "G", gradients.scale)
        inc_grad(mixer.layernorm, "b", gradients.shift)
        dW = np.empty_like(W)
        for column, dW_column in zip(columns, mixer.split_columns(dW), strict=True):
            d_product = column.keys.scatter_add(d_mixed)
            np.matmul(d_product.T, column.X, out=dW_column)
            column.backprop(d_product @ column.W)
        inc_maxout_grads(mixer.maxout, dW, gradients.bias)

    return Y, backprop


def _lay_out(mixer: Mixer) -> tuple[NDArray, Norm]:
    """Lay out copies of the mixing layers' weights."""
    W, b = pieces_first(peek(mixer.maxout, "W"), peek(mixer.maxout, "b"))
    G, shift = (peek(mixer.layernorm, name).copy() for name in ("G", "b"))
    return W, Norm(b, G, shift)


def _embed_columns(
    mixer: Mixer, tokens: Distinct, W: NDArray, *, is_train: bool
) -> list[EmbeddedColumn]:
    parts = mixer.split_columns(W)
    columns: list[EmbeddedColumn] = []
    start = 0
    for column, values, part in zip(mixer.columns, tokens.values.T, parts, strict=True):
        keys = find_distinct(values)
        X, backprop = column.embed(keys.values, is_train)
        columns.append(EmbeddedColumn(keys, start, X, backprop, part))
        start = columns[-1].stop
    return columns


def _mix(columns: Sequence[EmbeddedColumn]) -> NDArray:
    """Multiply the values of each column, and sum the products of each token."""
    products = np.empty((columns[-1].stop, len(columns[0].W)), dtype="float32")
    for column in columns:
        np.matmul(column.X, column.W.T, out=products[column.start : column.stop])
    indices = [column.keys.copies + column.start for column in columns]
    return gather_add(products, np.stack(indices, axis=1))


def _begin_dropout(
    mixer: Mixer, Y: NDArray
) -> tuple[NDArray, Callable[[NDArray], NDArray]]:
    """Drop numbers of each token on its own, copies of one too."""
    mask = None if mixer.dropout is None else draw_mask(mixer.dropout, Y.shape)
    if mask is None:
        return Y, lambda dY: dY
    return Y * mask, lambda dY: dY * mask


def _predict_folded(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Embed tokens through folded tables."""
    if len(keys) <= FEW_TOKENS:
        return _finish(mixer, folded, _sum_rows(mixer, folded, keys), keys)
    tokens = find_distinct_rows(keys)
    mixed = _sum_distinct_rows(mixer, folded, tokens.values)
    return tokens.gather(_finish(mixer, folded, mixed, tokens.values))


def _sum_rows(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Sum the folded rows of each token. *Shape:* `(n, nP * nO)`."""
    found = [
        (rows + start, weights)
        for i, start in folded.starts.items()
        for rows, weights in [mixer.columns[i].find_rows(keys[:, i])]
    ]
    rows = np.concatenate([rows for rows, _ in found], axis=1)
    return _gather(folded.F, rows, _join_weights(found, axis=1))


def _sum_distinct_rows(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Do the same as `_sum_rows`, summing first within each column, once a value."""
    found, indices, n_values = [], [], 0
    for i, start in folded.starts.items():
        values = find_distinct(keys[:, i])
        rows, weights = mixer.columns[i].find_rows(values.values)
        found.append((rows + start, weights))
        indices.append(values.copies + n_values)
        n_values += len(values.values)
    products = _gather_each(folded.F, found)
    return gather_add(products, np.stack(indices, axis=1))


def _gather_each(F: NDArray, found: Sequence[Rows]) -> NDArray:
    """Sum the rows of each value, column after column."""
    if len({rows.shape[1] for rows, _ in found}) > 1:
        return np.concatenate([_gather(F, *rows) for rows in found])
    rows = np.concatenate([rows for rows, _ in found])
    return _gather(F, rows, _join_weights(found, axis=0))


def _join_weights(found: Sequence[Rows], axis: int) -> NDArray | None:
    """Join the weights of columns, if some have any: those of the others are 1."""
    if all(weights is None for _, weights in found):
        return None
    parts = [
        np.ones(rows.shape, dtype="float32") if weights is None else weights
        for rows, weights in found
    ]
    return np.concatenate(parts, axis=axis)


def _gather(F: NDArray, rows: NDArray, weights: NDArray | None) -> NDArray:
    """Sum the rows of each value, weighted or not. *Shape:* `(m, k)` to `(m, w)`."""
    if weights is None:
        return gather_add(F, rows)
    summed = np.empty((len(rows), F.shape[1]), dtype="float32")
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        np.matmul(weights[block, None], F[rows[block]], out=summed[block, None])
    return summed


def _finish(
    mixer: Mixer, folded: FoldedTables, mixed: NDArray, keys: NDArray
) -> NDArray:
    """Add what has no rows, take the maximum, and normalise."""
    for i, W_column in folded.W.items():
        values = find_distinct(keys[:, i])
        X, _ = mixer.columns[i].embed(values.values, False)
        mixed += values.gather(X @ W_column.T)
    return finish(mixed, folded.norm)
