"""Embedding table `E`: functions that all its layers share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d, Ints1d, Ints2d

from ..kernels import cuda
from ..kernels.rows import Hashing, Table
from ..kernels.sums import scatter_add
from .checks import check_param
from .params import peek


def get_table(model: Model) -> Floats2d:
    """Get the table of a layer whose weights are checked. *Shape:* `(nV, nO)`."""
    return cast(Floats2d, peek(model, "E"))


def check_table(model: Model) -> None:
    # one of another width, which Thinc loads too, would surface layers later, and one
    # with too few rows not at all
    check_param(model, "E", (model.get_dim("nV"), model.get_dim("nO")))


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
        there = model.get_grad(name)
        # kernels can add to no others in place
        if there.dtype == "float32" and there.flags.c_contiguous:
            yield there
            return
    gradient = model.ops.alloc2f(*peek(model, name).shape)
    yield gradient
    model.inc_grad(name, gradient)
