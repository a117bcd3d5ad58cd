"""Embed the keys of tokens and mix them, on a GPU: see `mixedembed.py` for the CPU.

All tables are embedded by one kernel. In training their columns are mixed by plain
products, and kernels take the gradients back to all tables. Prediction goes through
folded tables, which are made anew as soon as weights change: one small matrix product.
"""

from collections.abc import Callable, Sequence
from typing import Any

from thinc.api import Model

from ..kernels.cuda import sum_rows
from ..kernels.cuda_tables import Array, Finder, Table
from .folding import FoldedTables
from .gputables import GpuTable, embed_tables
from .mixedembed import MixedEmbed, split_pieces
from .watch import peek

#: Embeds what has no table, in training or not: an array as wide as a table, and what
#: takes its gradient back.
EmbedMore = Callable[[bool], tuple[Array, Callable[[Array], object]]]


def embed(
    layers: MixedEmbed,
    finders: Sequence[Finder],
    keys: Array,
    embed_more: EmbedMore | None,
    is_train: bool,
) -> tuple[Array, Callable[[Array], None]]:
    """Embed tokens by their keys.

    finders (Sequence[Finder]): For each table what finds the rows of its keys.
    keys (Array): A column for each table. *Shape:* `(n, tables)`, uint64.
    embed_more (EmbedMore, optional): Embeds what has no table.
    RETURNS (tuple): The output, of shape `(n, nO)`, float32; and what takes its
        gradient to the parameters of all layers.
    """
    tables = [GpuTable(*pair) for pair in zip(layers.tables, finders, strict=True)]
    n_columns = sum(table.get_dim("nO") for table in layers.tables)
    n_more = 0 if embed_more is None else layers.tables[0].get_dim("nO")
    X, backprop_tables = embed_tables(tables, keys, is_train, n_more=n_more)
    if embed_more is not None:
        X[:, n_columns:], backprop_more = embed_more(is_train)
    best, backprop_maxout = begin_maxout(layers.maxout, X)
    Y, backprop_norm = layers.layernorm(best, is_train)
    backprop_dropout: Callable[[Array], Array] | None = None
    if layers.dropout is not None:
        Y, backprop_dropout = layers.dropout(Y, is_train)

    def backprop(dY: Array) -> None:
        if backprop_dropout is not None:
            dY = backprop_dropout(dY)
        dX = backprop_maxout(backprop_norm(dY))
        backprop_tables(dX)
        if embed_more is not None:
            backprop_more(dX[:, n_columns:])

    return Y, backprop


def begin_maxout(maxout: Model, X: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Do what Thinc's Maxout does, which on a GPU waits for it to check the maxima.

    X (Array): *Shape:* `(n, nI)`, float32.
    RETURNS (tuple): The output, of shape `(n, nO)`; and the backward pass.
    """
    ops: Any = maxout.ops
    xp = ops.xp
    W, b = peek(maxout, "W"), peek(maxout, "b")
    nO, nP, nI = W.shape
    W_rows = W.reshape(nO * nP, nI)
    mixed = ops.gemm(X, W_rows, trans2=True).reshape(-1, nO, nP)
    mixed += b
    which = mixed.argmax(axis=2)  # of equal pieces the first one, as in Thinc

    def backprop(d_best: Array) -> Array:
        is_best = which[:, :, None] == xp.arange(nP)
        d_mixed = xp.where(is_best, d_best[:, :, None], 0).reshape(-1, nO * nP)
        maxout.inc_grad("W", ops.gemm(d_mixed, X, trans1=True).reshape(nO, nP, nI))
        maxout.inc_grad("b", d_mixed.sum(axis=0).reshape(nO, nP))
        return ops.gemm(d_mixed, W_rows)

    return mixed.max(axis=2), backprop


def predict_folded(
    layers: MixedEmbed,
    folded: FoldedTables,
    finders: Sequence[Finder],
    keys: Array,
    embed_more: EmbedMore | None,
) -> Array:
    """Do the same as `embed` in prediction, through folded tables.

    RETURNS (Array): *Shape:* `(n, nO)`, float32.
    """
    starts = [*folded.starts.tolist(), len(folded.F)]
    tables = [
        Table(folded.F[start:stop], finder)
        for finder, start, stop in zip(finders, starts, starts[1:], strict=False)
    ]
    mixed = sum_rows(keys, tables, folded.bias)
    if embed_more is not None:
        more, _ = embed_more(False)
        mixed += more @ folded.W.T
    return layers.layernorm.predict(split_pieces(mixed, layers).max(axis=1))
