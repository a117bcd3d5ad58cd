"""Embed the keys of tokens and mix them, on a GPU: see `mixedembed.py` for the CPU.

One kernel embeds all tables, and kernels take the gradients back to them. Nothing is
folded.
"""

from collections.abc import Callable, Sequence
from typing import Any

from thinc.api import Model

from ..params import peek
from .column import Array, Backprop, Column, Mixer
from .gputables import embed_tables


def can_embed(mixer: Mixer) -> bool:
    """Tell whether kernels can: their columns come first, and are of one width."""
    columns, _ = _split_columns(mixer)
    return len({column.width for column in columns}) == 1


def forward(
    mixer: Mixer, keys: Any, is_train: bool
) -> tuple[Array, Callable[[Array], None]]:
    ops = mixer.maxout.ops
    columns, others = _split_columns(mixer)
    keys = ops.asarray(keys)
    table_keys = ops.as_contig(keys[:, : len(columns)])
    other_keys = list(keys.T[len(columns) :])
    mixer.check()
    widths = [column.width for column in others]
    X, backprop_tables = embed_tables(columns, table_keys, is_train, n_more=sum(widths))
    backprops = _embed_others(others, other_keys, X, is_train)
    Y, backprop_maxout = begin_maxout(mixer.maxout, X)
    Y, backprop_norm = mixer.layernorm(Y, is_train)
    backprop_dropout: Callable[[Array], Array] | None = None
    if mixer.dropout is not None:
        Y, backprop_dropout = mixer.dropout(Y, is_train)

    def backprop(dY: Array) -> None:
        if backprop_dropout is not None:
            dY = backprop_dropout(dY)
        dX = backprop_maxout(backprop_norm(dY))
        backprop_tables(dX)
        for backprop_column, start, stop in backprops:
            backprop_column(ops.as_contig(dX[:, start:stop]))

    return Y, backprop


def _split_columns(mixer: Mixer) -> tuple[list[Column], list[Column]]:
    """Tell the columns that the kernels embed from those that come after them."""
    columns = list(mixer.columns)
    n_tables = 0
    while n_tables < len(columns) and columns[n_tables].get_finder():
        n_tables += 1
    return columns[:n_tables], columns[n_tables:]


def _embed_others(
    columns: Sequence[Column], keys: Sequence[Array], X: Array, is_train: bool
) -> list[tuple[Backprop, int, int]]:
    """Write the vectors of the last columns to X; say how to go back, and where."""
    backprops = []
    start = X.shape[1] - sum(column.width for column in columns)
    for column, values in zip(columns, keys, strict=True):
        stop = start + column.width
        X[:, start:stop], backprop_column = column.embed(values, is_train)
        backprops.append((backprop_column, start, stop))
        start = stop
    return backprops


def begin_maxout(maxout: Model, X: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Do what Thinc's Maxout does, which on a GPU waits for it to check the maxima."""
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
