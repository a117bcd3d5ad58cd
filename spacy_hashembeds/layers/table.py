"""Embedding table `E`: functions that all its layers share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from thinc.api import Model, Ops, chain
from thinc.layers.array_getitem import ints_getitem
from thinc.types import Floats2d, Ints1d, Ints2d

from ..hashing import murmur
from ..kernels import cuda
from ..kernels.rows import Finder, Hashing, Lookup, Table
from ..kernels.sums import scatter_add
from .checks import check_param
from .params import peek
from .symboltaker import look_up


def finish_layer(model: Model, column: int | None, dropout: float | None) -> Model:
    """Give a layer that embeds integers what all of them have as options.

    With `column` it embeds this column of a two-dimensional input. With `dropout` whole
    output dimensions are dropped for all keys of a batch together; spaCy's trainer sets
    the rate itself. (Their `initializer` fills the table; by default uniform in ±0.1.)
    """
    if dropout is not None:
        model.attrs["dropout_rate"] = dropout
    if column is None:
        return model
    columns: Model = chain(ints_getitem((slice(0, None), column)), model)
    columns.attrs["column"] = column
    return columns


def init_table(
    initializer: Callable, model: Model, X: Any = None, Y: Any = None
) -> None:
    shape = (model.get_dim("nV"), model.get_dim("nO"))
    model.set_param("E", initializer(model.ops, shape))


def get_table(model: Model) -> Floats2d:
    """Get the table of a layer whose weights are checked. *Shape:* `(nV, nO)`."""
    return cast(Floats2d, peek(model, "E"))


def check_table(model: Model) -> None:
    # one of another width, which Thinc loads too, would surface layers later, and one
    # with too few rows not at all
    check_param(model, "E", (model.get_dim("nV"), model.get_dim("nO")))


def find_rows(ops: Ops, finder: Finder, ids: Ints1d, n_rows: int) -> Ints2d:
    """Find the rows to sum for each key in a table, `(n, num_hashes)`, uint32.

    A key that has a row of its own beside hashed ones has no more: the row after the
    last stands for none.
    """
    if isinstance(finder, Lookup):
        return cast(Ints2d, look_up(ops, ids, finder.symbols, unk=finder.unk))
    symbols, n = finder.symbols, 0 if finder.symbols is None else len(finder.symbols)
    # where there is no id, Thinc cuts no column out of the matrix
    keys: Any = ops.as_contig(cast(Any, ids), dtype="uint64").reshape((-1,))
    hashing = {"seed": finder.seed, "num_hashes": finder.num_hashes}
    rows = murmur.find_rows(ops, keys, **hashing, rows=n_rows - n)
    if n > 0:
        rows += n
        places = symbols.searchsorted(keys)
        is_frequent = symbols.take(places, mode="clip") == keys
        np.copyto(rows, n_rows, where=is_frequent[:, None])
        np.copyto(rows[:, 0], places, where=is_frequent, casting="unsafe")
    return cast(Ints2d, rows.astype("uint32", copy=False))


def finish_forward(
    model: Model, rows: Ints2d, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ints1d]]:
    """Finish a layer's forward pass with dropout, and make its backward pass.

    rows (Ints2d): The rows that were summed for each output. *Shape:* `(n, k)`.
    """
    output, backprop_dropout = apply_dropout(model, output, is_train)

    def backprop(d_output: Floats2d) -> Ints1d:
        inc_table_grad(model, "E", rows, backprop_dropout(d_output))
        return model.ops.alloc1i(len(rows))

    return output, backprop


def apply_dropout(
    model: Model, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Drop whole dimensions of the output, for all rows together, as Thinc does.

    Backpropagation leaves the gradient that it is given as it was.
    """
    rate = model.attrs.get("dropout_rate")
    if not is_train or not rate:
        return output, lambda d_output: d_output
    mask = model.ops.get_dropout_mask((output.shape[1],), rate)
    return output * mask, lambda d_output: d_output * mask


def inc_table_grad(model: Model, name: str, rows: Ints2d, d_output: Floats2d) -> None:
    """Add to the gradient of a table by `scatter_rows`."""
    with table_gradient(model, name) as dE:
        scatter_rows(model.ops, rows, d_output, dE)


def scatter_rows(ops: Any, rows: Any, d_output: Any, gradient: Any) -> None:
    """Add the gradient of each sum of rows of a table to that of these rows, in place.

    *Shapes:* `(n, k)`, integers; `(n, width)` and `(rows, width)`, float32, contiguous.
    """
    if not cuda.is_used_by(ops):
        scatter_add(gradient, rows, d_output)
        return
    # in the order of the outputs: see `kernels/cuda.py`
    places = ops.xp.arange(rows.size, dtype="uint64").reshape(rows.shape)
    pairs = rows.astype("uint64") << np.uint64(32) | places
    # no key is hashed: the rows are there
    table = Table(gradient, Hashing(seed=0, num_hashes=rows.shape[1]))
    d_output = ops.as_contig(d_output, dtype="float32")
    cuda.scatter_rows(pairs.reshape(-1), d_output, [table])


@contextmanager
def table_gradient(model: Model, name: str) -> Iterator[Any]:
    """Give the gradient of a table to add to in place: itself, where there is one.

    Most batches need few of the rows: to add a table of zeros takes longer than the
    rest.
    """
    if model.has_grad(name):
        there: Any = model.get_grad(name)
        # kernels can add to no others in place
        if there.dtype == "float32" and there.flags.c_contiguous:
            yield there
            return
    gradient = model.ops.alloc2f(*peek(model, name).shape)
    yield gradient
    model.inc_grad(name, gradient)
