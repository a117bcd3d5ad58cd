"""Embedding tables on a GPU: those of several layers at once, in one kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats2d, Ints1d

from ..kernels.cuda import gather_rows, scatter_rows
from ..kernels.cuda_tables import Array, Finder, Table
from .gradients import alloc_table
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


class GpuTable(NamedTuple):
    """A layer with an embedding table `E`, and how the rows of its keys are found."""

    model: Model
    finder: Finder


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
    pairs = gather_rows(keys, arrays, X, scale=scale)

    def backprop(dX: Array) -> None:
        # into the gradients themselves where there are some: see `backprop_table`
        is_first = [not _has_plain_gradient(table.model) for table in tables]
        gradients = [
            Table(alloc_table(model, "E") if is_new else model.get_grad("E"), finder)
            for (model, finder), is_new in zip(tables, is_first, strict=True)
        ]
        scatter_rows(pairs, ops.as_contig(dX, dtype="float32"), gradients, scale)
        for (model, _), gradient, is_new in zip(
            tables, gradients, is_first, strict=True
        ):
            if is_new:
                model.inc_grad("E", gradient.array)

    return X, backprop


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


def _has_plain_gradient(model: Model) -> bool:
    """Tell whether a kernel can add to the gradient of a layer's table."""
    if not model.has_grad("E"):
        return False
    gradient: Any = model.get_grad("E")
    return gradient.dtype == "float32" and gradient.flags.c_contiguous


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
