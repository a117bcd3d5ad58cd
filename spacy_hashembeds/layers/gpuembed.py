"""Embed tokens and mix their vectors on a GPU: the counterpart of `mixedembed.py`.

One kernel sums the rows of all tables. Tables are not folded.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import accumulate, pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats2d, Ints1d

from ..kernels.cuda import gather_rows, scatter_rows
from ..kernels.rows import Hashing, Table
from .checks import peek, table_gradient
from .column import Array, Backprop, Column
from .plan import MaxoutLayers


class GpuCopy:
    """Cache of the last array copied to a GPU. Not copied, pickled or saved."""

    def __init__(self) -> None:
        # replaced as a whole: threads never see an incomplete entry
        self.latest: tuple[NDArray | None, Any, Array] = (None, None, None)

    def __reduce__(self) -> tuple:
        return GpuCopy, ()

    def get(self, ops: Any, source: NDArray) -> Array:
        """Get the copy of an array, which must not be modified in place."""
        copied, copied_to, copy = self.latest
        if copied is not source or copied_to is not ops:
            copy = ops.xp.asarray(source)
            self.latest = source, ops, copy
        return copy


def can_mix(columns: Sequence[Column]) -> bool:
    """True if the first columns have finders, and equal widths."""
    return len({column.width for column in _take_tables(columns)}) == 1


def _take_tables(columns: Sequence[Column]) -> list[Column]:
    return list(takewhile(lambda column: column.get_finder() is not None, columns))


def mix(
    columns: Sequence[Column], layers: MaxoutLayers, keys: Any, is_train: bool
) -> tuple[Array, Callable[[Array], None]]:
    """Embed columns of keys and mix their vectors, without checks of weights."""
    ops = layers.maxout.ops
    keys, tables = ops.asarray(keys), _take_tables(columns)
    others = columns[len(tables) :]
    n_more = sum(column.width for column in others)
    table_keys = ops.as_contig(keys[:, : len(tables)])
    X, backprop_tables = embed_tables(tables, table_keys, is_train, n_more=n_more)
    backprops, start = [], X.shape[1] - n_more
    for column, other_keys in zip(others, keys.T[len(tables) :], strict=True):
        part = slice(start, start + column.width)
        X[:, part], backprop_column = column.embed(other_keys, is_train)
        backprops.append((backprop_column, part))
        start = part.stop
    Y, backprop_maxout = begin_maxout(layers.maxout, X)
    Y, backprop_norm = layers.layernorm(Y, is_train)
    backprop_dropout: Callable[[Array], Array] = lambda dY: dY  # noqa: E731
    if layers.dropout is not None:
        Y, backprop_dropout = layers.dropout(Y, is_train)

    def backprop(dY: Array) -> None:
        dX = backprop_maxout(backprop_norm(backprop_dropout(dY)))
        backprop_tables(dX)
        for backprop_column, part in backprops:
            backprop_column(ops.as_contig(dX[:, part]))

    return Y, backprop


def begin_maxout(maxout: Model, X: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Run Maxout. Unlike Thinc's Maxout, it does not synchronize with the GPU."""
    ops: Any = maxout.ops
    xp = ops.xp
    W, b = peek(maxout, "W"), peek(maxout, "b")
    nO, nP, nI = W.shape
    W_rows = W.reshape(nO * nP, nI)
    mixed = ops.gemm(X, W_rows, trans2=True).reshape(-1, nO, nP)
    mixed += b
    which = mixed.argmax(axis=2)  # the first of equal pieces, as in Thinc

    def backprop(d_best: Array) -> Array:
        is_best = which[:, :, None] == xp.arange(nP)
        d_mixed = xp.where(is_best, d_best[:, :, None], 0).reshape(-1, nO * nP)
        maxout.inc_grad("W", ops.gemm(d_mixed, X, trans1=True).reshape(nO, nP, nI))
        maxout.inc_grad("b", d_mixed.sum(axis=0).reshape(nO, nP))
        return ops.gemm(d_mixed, W_rows)

    return mixed.max(axis=2), backprop


def embed_tables(
    columns: Sequence[Column], keys: Array, is_train: bool, *, n_more: int = 0
) -> tuple[Array, Callable[[Array], None]]:
    """Embed columns of keys, each in its table, with the dropout of their layers.

    There are at most 64 columns, all of one width and with finders. Keys are
    `(n, columns)`, uint64, contiguous. Return the concatenated vectors, followed by
    `n_more` unset columns, `(n, columns * width + n_more)`, float32; and a callback.
    """
    ops: Any = columns[0].model.ops
    finders: list[Any] = [column.get_finder() for column in columns]
    tables = [
        Table(ops.as_contig(peek(column.model, "E")), finder)
        for column, finder in zip(columns, finders, strict=True)
    ]
    n_columns = sum(column.width for column in columns)
    X = ops.alloc2f(len(keys), n_columns + n_more, zeros=False)
    scale = _draw_dropout(columns) if is_train else None
    # slice of each table in a token's rows
    ends = accumulate((finder.num_hashes for finder in finders), initial=0)
    slots = [slice(start, stop) for start, stop in pairwise(ends)]
    keys, weights, backprop_weights = _weigh_keys(columns, keys, slots)
    pairs = gather_rows(keys, tables, X, weights=weights, scale=scale)

    def backprop(dX: Array) -> None:
        dX = ops.as_contig(dX, dtype="float32")
        with ExitStack() as stack:
            gradients = [
                Table(stack.enter_context(table_gradient(column.model, "E")), finder)
                for column, finder in zip(columns, finders, strict=True)
            ]
            scatter_rows(pairs, dX, gradients, weights=weights, scale=scale)
        if weights is not None:
            dX = dX[:, :n_columns] if scale is None else dX[:, :n_columns] * scale
            backprop_weights(pairs, dX)

    return X, backprop


def _weigh_keys(
    columns: Sequence[Column], keys: Array, slots: Sequence[slice]
) -> tuple[Array, Array, Callable[[Array, Array], None]]:
    """Find the weights of all tables' rows, concatenated, or None if unweighted. The
    callback takes pairs and the gradient of the sums.
    """
    if not any(column.has_weights for column in columns):
        return keys, None, lambda pairs, dX: None
    xp = columns[0].model.ops.xp
    keys = keys.copy()
    weights: Array = xp.ones((len(keys), slots[-1].stop), dtype="float32")
    backprops: dict[int, Backprop] = {}
    for i, column in enumerate(columns):
        if column.has_weights:
            found = column.weigh_keys(xp.ascontiguousarray(keys[:, i]))
            keys[:, i], weights[:, slots[i]], backprops[i] = found

    def backprop(pairs: Array, dX: Array) -> None:
        rows = (pairs >> np.uint64(32)).astype("int64").reshape(-1, slots[-1].stop)
        width, first_row = columns[0].width, 0
        for i, column in enumerate(columns):
            E = peek(column.model, "E")
            if column.has_weights:
                d_sums = dX[:, None, i * width : (i + 1) * width]
                found = E[rows[:, slots[i]] - first_row]
                backprops[i]((found * d_sums).sum(axis=2))
            first_row += len(E)

    return keys, weights, backprop


def embed_ids(
    column: Column, ids: Ints1d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ints1d]]:
    """Run the forward pass of one table's layer, for integers of any dtype."""
    ops = column.model.ops
    keys: Array = ops.as_contig(ids, dtype="uint64")
    X, backprop_table = embed_tables([column], keys[:, None], is_train)

    def backprop(dX: Floats2d) -> Ints1d:
        backprop_table(dX)
        return ops.alloc1i(len(ids))

    return X, backprop


def scatter_sums(ops: Any, rows: Array, d_output: Array, gradient: Array) -> None:
    """Run `tables.add_row_gradients` on a GPU."""
    # pairs of `kernels/cuda.py`
    places = ops.xp.arange(rows.size, dtype="uint64").reshape(rows.shape)
    pairs = rows.astype("uint64") << np.uint64(32) | places
    # the finder is unused: the rows are known
    table = Table(gradient, Hashing(seed=0, num_hashes=rows.shape[1]))
    d_output = ops.as_contig(d_output, dtype="float32")
    scatter_rows(pairs.reshape(-1), d_output, [table])


def _draw_dropout(columns: Sequence[Column]) -> Array | None:
    """Draw the dropout masks of output dimensions, concatenated."""
    rates = [column.model.attrs.get("dropout_rate") or 0.0 for column in columns]
    widths = [column.width for column in columns]
    ops = columns[0].model.ops
    if not any(rates):
        return None
    if len(set(rates)) == 1:  # fewer kernels than a draw per mask
        return ops.get_dropout_mask((sum(widths),), rates[0])
    masks = [
        ops.get_dropout_mask((width,), rate) if rate else ops.alloc1f(width) + 1
        for width, rate in zip(widths, rates, strict=True)
    ]
    return ops.xp.concatenate(masks)
