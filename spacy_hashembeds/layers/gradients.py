"""Gradients of parameters, added up from what fast paths compute."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats2d, Ints2d

from ..kernels import cuda
from ..kernels.cuda import is_used_by
from ..kernels.rows import Hashing, Table
from ..kernels.sums import scatter_add
from .params import peek


def inc_grad(model: Model, name: str, grad: NDArray) -> None:
    """Add to the gradient of a parameter, whatever the layout of what is added."""
    model.inc_grad(name, model.ops.as_contig(cast(Any, grad)))


def inc_table_grad(model: Model, name: str, rows: Ints2d, d_output: Floats2d) -> None:
    """Add the gradient of an output to those of the rows that were summed for it.

    name (str): The parameter whose rows they are. *Shape:* `(rows, width)`.
    rows (Ints2d): The rows of each output. *Shape:* `(n, k)`, unsigned.
    d_output (Floats2d): *Shape:* `(n, width)`.
    """
    with table_gradient(model, name) as dE:
        scatter_rows(model.ops, rows, d_output, dE)


def scatter_rows(ops: Any, rows: Any, d_output: Any, gradient: Any) -> None:
    """Add the gradient of each sum of rows of a table to that of these rows, in place.

    rows (Any): The rows of each output. *Shape:* `(n, k)`, integers.
    d_output (Any): *Shape:* `(n, width)`, float32, contiguous.
    gradient (Any): *Shape:* `(rows, width)`, float32, contiguous.
    """
    if is_used_by(ops):
        _scatter_on_gpu(ops, rows, d_output, gradient)
        return
    scatter_add(gradient, rows, d_output)


@contextmanager
def table_gradient(model: Model, name: str) -> Iterator[Any]:
    """Give the gradient of a table to add to in place.

    The gradient itself where there is one: most batches need few of the rows, and it
    takes longer to add a table full of zeros than to do all the rest.
    """
    if model.has_grad(name) and is_plain(model.get_grad(name)):
        yield model.get_grad(name)
        return
    gradient = model.ops.alloc2f(*peek(model, name).shape)
    yield gradient
    model.inc_grad(name, gradient)


def is_plain(array: Any) -> bool:
    """Tell whether kernels can add to an array in place."""
    return array.dtype == "float32" and array.flags.c_contiguous


def _scatter_on_gpu(ops: Any, rows: Any, d_output: Any, gradient: Any) -> None:
    """Add to rows in the order of the outputs: see `kernels/cuda.py`."""
    n_slots = rows.shape[1]
    places = ops.xp.arange(rows.size, dtype="uint64").reshape(rows.shape)
    pairs = rows.astype("uint64") << np.uint64(32) | places
    # no key is hashed: the rows are there
    table = Table(gradient, Hashing(seed=0, num_hashes=n_slots))
    d_output = ops.as_contig(d_output, dtype="float32")
    cuda.scatter_rows(pairs.reshape(-1), d_output, [table])
