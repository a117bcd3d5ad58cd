"""Embedding tables on a GPU: those of several layers at once, in one kernel."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats2d, Ints1d

from ..kernels.cuda import gather_rows, scatter_rows
from ..kernels.rows import Array, Finder, Table
from .gradients import table_gradient
from .table import get_table


@dataclass
class GpuCopy:
    """Keeps an array's copy on the GPU. Neither copied, pickled nor saved with a layer.

    source (NDArray, optional): The array that was copied last.
    ops (Any): The operations of the GPU that it was copied to.
    array (Array): Its copy.
    """

    source: NDArray | None = None
    ops: Any = None
    array: Array = None

    def __reduce__(self) -> tuple:
        return GpuCopy, ()

    def get(self, ops: Any, source: NDArray) -> Array:
        """Get the copy of an array, which nobody changes in place."""
        if self.source is not source or self.ops is not ops:
            self.source, self.ops, self.array = source, ops, ops.xp.asarray(source)
        return self.array


class Weighed(NamedTuple):
    """Keys whose rows are weighted.

    keys (Array): What the rows are found by: mostly the keys themselves. *Shape:*
        `(n,)`, uint64.
    weights (Array): What each row is multiplied with. *Shape:* `(n, rows of a key)`,
        float32.
    backprop (Callable[[Array], object]): Takes the gradient of the weights to the
        parameters.
    """

    keys: Array
    weights: Array
    backprop: Callable[[Array], object]


class GpuTable(NamedTuple):
    """A layer with an embedding table `E`, and how the rows of its keys are found.

    weigh (Callable[[Model, Array], Weighed], optional): Weighs the rows, if not with 1.
    """

    model: Model
    finder: Finder
    weigh: Callable[[Model, Array], Weighed] | None = None


def embed_tables(
    tables: Sequence[GpuTable], keys: Array, is_train: bool, *, n_more: int = 0
) -> tuple[Array, Callable[[Array], None]]:
    """Embed a column of keys in each table, with dropout as the layers have it.

    tables (Sequence[GpuTable]): At most 64, all of one width.
    keys (Array): *Shape:* `(n, tables)`, uint64, contiguous.
    n_more (int): Columns of the output to leave for others.
    RETURNS (tuple): The rows side by side, of shape `(n, tables * width + n_more)`,
        float32; and what takes the gradient of this to the tables.
    """
    ops = tables[0].model.ops
    arrays = [Table(ops.as_contig(get_table(t.model)), t.finder) for t in tables]
    n_columns = sum(table.model.get_dim("nO") for table in tables)
    X = ops.alloc2f(len(keys), n_columns + n_more, zeros=False)
    scale = _draw_dropout(tables) if is_train else None
    weighed = _weigh_keys(tables, keys)
    weights = weighed.weights
    pairs = gather_rows(weighed.keys, arrays, X, weights=weights, scale=scale)

    def backprop(dX: Array) -> None:
        dX = ops.as_contig(dX, dtype="float32")
        with ExitStack() as stack:
            gradients = [
                Table(stack.enter_context(table_gradient(t.model, "E")), t.finder)
                for t in tables
            ]
            scatter_rows(pairs, dX, gradients, weights=weights, scale=scale)
        if weights is not None:
            dX = dX[:, :n_columns] if scale is None else dX[:, :n_columns] * scale
            weighed.backprop(_backprop_to_weights(tables, pairs, dX))

    return X, backprop


def _weigh_keys(tables: Sequence[GpuTable], keys: Array) -> Weighed:
    """Weigh the rows of all tables, those of a token side by side.

    keys (Array): A column for each table. *Shape:* `(n, tables)`, uint64, contiguous.
    RETURNS (Weighed): The keys, of the same shape; the weights, or None if all are 1.
    """
    if all(table.weigh is None for table in tables):
        return Weighed(keys, None, lambda d_weights: None)
    xp: Any = tables[0].model.ops.xp
    keys = keys.copy()
    weights: Array = xp.ones((len(keys), _count_slots(tables)), dtype="float32")
    backprops = []
    for i, slots in enumerate(_split_slots(tables)):
        weigh = tables[i].weigh
        if weigh is not None:
            found = weigh(tables[i].model, xp.ascontiguousarray(keys[:, i]))
            keys[:, i], weights[:, slots] = found.keys, found.weights
            backprops.append((slots, found.backprop))

    def backprop(d_weights: Array) -> None:
        for slots, backprop_table in backprops:
            backprop_table(d_weights[:, slots])

    return Weighed(keys, weights, backprop)


def _backprop_to_weights(tables: Sequence[GpuTable], pairs: Array, dX: Array) -> Array:
    """Find the gradient of all weights: the products of rows and what they went to.

    pairs (Array): What `gather_rows` returned.
    dX (Array): *Shape:* `(n, tables * width)`.
    RETURNS (Array): *Shape:* `(n, rows of a token)`; 0 for tables without weights.
    """
    xp: Any = tables[0].model.ops.xp
    n_slots = _count_slots(tables)
    rows = (pairs >> np.uint64(32)).astype("int64").reshape(-1, n_slots)
    d_weights: Array = xp.zeros(rows.shape, dtype="float32")
    width, first_row = dX.shape[1] // len(tables), 0
    for i, slots in enumerate(_split_slots(tables)):
        E: Any = get_table(tables[i].model)
        if tables[i].weigh is not None:
            d_sums = dX[:, None, i * width : (i + 1) * width]
            found = rows[:, slots] - first_row
            d_weights[:, slots] = (E[found] * d_sums).sum(axis=2)
        first_row += len(E)
    return d_weights


def _count_slots(tables: Sequence[GpuTable]) -> int:
    """Count the rows that a token has in all tables."""
    return sum(table.finder.num_hashes for table in tables)


def _split_slots(tables: Sequence[GpuTable]) -> Iterator[slice]:
    """Say which of a token's rows are in which table."""
    start = 0
    for table in tables:
        yield slice(start, start + table.finder.num_hashes)
        start += table.finder.num_hashes


def embed_ids(
    table: GpuTable, ids: Ints1d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ints1d]]:
    """Embed integers in one table: the forward pass of a layer that has it.

    ids (Ints1d): *Shape:* `(n,)`, any integer dtype.
    RETURNS (tuple): The rows, of shape `(n, width)`; and the backward pass.
    """
    ops = table.model.ops
    keys: Array = ops.as_contig(ids, dtype="uint64")
    X, backprop_table = embed_tables([table], keys[:, None], is_train)

    def backprop(dX: Floats2d) -> Ints1d:
        backprop_table(dX)
        return ops.alloc1i(len(ids))

    return X, backprop


def _draw_dropout(tables: Sequence[GpuTable]) -> Array | None:
    """Draw what each output dimension is multiplied with: Thinc's masks side by side.

    With equal rates all in one, since each drawing is several kernels.
    """
    rates = [table.model.attrs.get("dropout_rate") or 0.0 for table in tables]
    widths = [table.model.get_dim("nO") for table in tables]
    ops: Any = tables[0].model.ops
    if not any(rates):
        return None
    if len(set(rates)) == 1:
        return ops.get_dropout_mask((sum(widths),), rates[0])
    masks = [
        ops.get_dropout_mask((width,), rate) if rate else ops.alloc1f(width) + 1
        for width, rate in zip(widths, rates, strict=True)
    ]
    return ops.xp.concatenate(masks)
