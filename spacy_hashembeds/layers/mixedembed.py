"""Embed the distinct keys of a batch once, column by column, and mix them.

What `with_array(concatenate(*tables))` and `with_array(Maxout(..., normalize=True))`
compute together, by the same layers and with their parameters, but in another order:

- A batch has far fewer distinct tokens than tokens, and a column of their keys has
  fewer distinct values still. Each value is embedded once.
- Maxout's weights are cut by column. Each value is multiplied with its part, and the
  products are summed for each distinct token: `W x = W₁ x₁ + … + W_c x_c`.
- The maximum and the layer normalisation happen once for each distinct token.
- Gradients of copies are summed before they go back the same way.

When the weights have not changed since the last time, prediction goes through folded
tables (see `folding.py`), which hold the products for all rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.distinct import (
    NUMPY_OPS,
    Distinct,
    find_distinct,
    find_distinct_rows,
)
from ..kernels.mixing import (
    begin_maximum,
    begin_normalize,
    maximum,
    normalize,
    pieces_first,
)
from .watch import peek

Backprop = Callable[[NDArray], None]

#: Embeds distinct values of one column: their rows, of the width of the tables, and
#: what backpropagates to the parameters behind them.
EmbedColumn = Callable[[NDArray, bool], tuple[NDArray, Backprop]]


class MixedEmbed(NamedTuple):
    """The layers that compute together.

    tables (Sequence[Model]): The layers that embed the first columns, in order.
    maxout (Model): Thinc's Maxout, over the columns' rows side by side.
    layernorm (Model): Thinc's LayerNorm.
    dropout (Model, optional): Thinc's Dropout.
    """

    tables: Sequence[Model]
    maxout: Model
    layernorm: Model
    dropout: Model | None


@dataclass(frozen=True)
class Column:
    """The distinct values of one column in a batch, embedded.

    keys (Distinct): The values.
    start (int): Where their products begin among those of all columns.
    X (NDArray): What the layer of the column makes of them. *Shape:* `(m, width)`.
    backprop (Callable[[NDArray], None]): Takes the gradient of X to the parameters.
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


def predict(layers: MixedEmbed, keys: NDArray, more: Sequence[EmbedColumn]) -> NDArray:
    """Embed tokens by their keys.

    keys (NDArray): A column for each table, and for each of `more`. *Shape:*
        `(n, columns)`, uint64, n > 0.
    more (Sequence[EmbedColumn]): What embeds the columns after those of the tables.
    RETURNS (NDArray): *Shape:* `(n, nO)`, float32.
    """
    tokens = find_distinct_rows(keys)
    W, b = pieces_first(peek(layers.maxout, "W"), peek(layers.maxout, "b"))
    columns = _embed_columns(layers, tokens, W, more, is_train=False)
    best = maximum(split_pieces(_mix(columns, b), layers))
    return tokens.share(normalize(best, *peek_norm(layers)))


def peek_norm(layers: MixedEmbed) -> tuple[NDArray, NDArray]:
    """Read the scale and the shift of the layer normalisation. *Shapes:* `(nO,)`."""
    return peek(layers.layernorm, "G"), peek(layers.layernorm, "b")


def begin_update(
    layers: MixedEmbed, keys: NDArray, more: Sequence[EmbedColumn]
) -> tuple[NDArray, Backprop]:
    """Embed tokens by their keys, in training: see `predict`.

    RETURNS (tuple): The output of `predict`, after dropout, and what takes its gradient
        back to the parameters of all layers.
    """
    tokens = find_distinct_rows(keys)
    W, b = pieces_first(peek(layers.maxout, "W"), peek(layers.maxout, "b"))
    columns = _embed_columns(layers, tokens, W, more, is_train=True)
    mixed = _mix(columns, b)
    best, backprop_maximum = begin_maximum(split_pieces(mixed, layers))
    Y, backprop_norm = begin_normalize(best, *peek_norm(layers))
    Y, backprop_dropout = _begin_dropout(layers, tokens.share(Y))

    def backprop(dY: NDArray) -> None:
        dY = tokens.gather(backprop_dropout(dY))
        d_best, d_G, d_shift = backprop_norm(dY)
        inc_grad(layers.layernorm, "G", d_G)
        inc_grad(layers.layernorm, "b", d_shift)
        d_mixed = backprop_maximum(d_best).reshape(mixed.shape)
        dW = np.empty_like(W)
        dW_columns = np.split(dW, len(columns), axis=1)
        for column, dW_column in zip(columns, dW_columns, strict=True):
            d_product = column.keys.gather(d_mixed)
            np.matmul(d_product.T, column.X, out=dW_column)
            column.backprop(d_product @ column.W)
        inc_maxout_grads(layers.maxout, dW, d_mixed.sum(axis=0))

    return Y, backprop


def _embed_columns(
    layers: MixedEmbed,
    tokens: Distinct,
    W: NDArray,
    more: Sequence[EmbedColumn],
    *,
    is_train: bool,
) -> list[Column]:
    embeds: list[EmbedColumn] = [*layers.tables, *more]
    W_columns = np.split(W, len(embeds), axis=1)
    columns: list[Column] = []
    start = 0
    for embed, values, W_column in zip(embeds, tokens.values.T, W_columns, strict=True):
        keys = find_distinct(values)
        X, backprop = embed(keys.values, is_train)
        columns.append(Column(keys, start, X, backprop, W_column))
        start = columns[-1].stop
    return columns


def _mix(columns: Sequence[Column], b: NDArray) -> NDArray:
    """Multiply the values of each column, and sum the products of each token."""
    products = np.empty((columns[-1].stop, len(b)), dtype="float32")
    for column in columns:
        np.matmul(column.X, column.W.T, out=products[column.start : column.stop])
    indices = [column.keys.copies + column.start for column in columns]
    mixed = NUMPY_OPS.gather_add(products, np.stack(indices, axis=1))
    mixed += b
    return mixed


def split_pieces(mixed: NDArray, layers: MixedEmbed) -> NDArray:
    """Tell the pieces apart. *Shape:* `(n, nP * nO)` to `(n, nP, nO)`."""
    nO, nP = layers.maxout.get_dim("nO"), layers.maxout.get_dim("nP")
    return mixed.reshape(-1, nP, nO)


def _begin_dropout(
    layers: MixedEmbed, Y: NDArray
) -> tuple[NDArray, Callable[[NDArray], NDArray]]:
    """Drop numbers of each token on its own, copies of one too."""
    if layers.dropout is None:
        return Y, lambda dY: dY
    return cast(Any, layers.dropout(Y, is_train=True))


def inc_maxout_grads(maxout: Model, dW: NDArray, db: NDArray) -> None:
    """Put gradients back into Thinc's layout: see `pieces_first`."""
    nO, nP = maxout.get_dim("nO"), maxout.get_dim("nP")
    dW = dW.reshape(nP, nO, -1).transpose(1, 0, 2)
    inc_grad(maxout, "W", dW)
    inc_grad(maxout, "b", db.reshape(nP, nO).T)


def inc_grad(model: Model, name: str, grad: NDArray) -> None:
    """Add to the gradient of a parameter, whatever the layout of what is added."""
    model.inc_grad(name, cast(Any, np.ascontiguousarray(grad)))
