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
    """Add the gradient of an output to those of a table's rows that were summed for it.

    As `scatter_rows`, to the gradient of the parameter of this name.
    """
    with table_gradient(model, name) as dE:
        scatter_rows(model.ops, rows, d_output, dE)


def scatter_rows(ops: Any, rows: Any, d_output: Any, gradient: Any) -> None:
    """Add the gradient of each sum of rows of a table to that of these rows, in place.

    rows (Any): The rows of each output. *Shape:* `(n, k)`, integers.
    d_output (Any): *Shape:* `(n, width)`, float32, contiguous.
    gradient (Any): *Shape:* `(rows, width)`, float32, contiguous.
    """
    if not is_used_by(ops):
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
    """Give the gradient of a table to add to in place.

    The gradient itself where there is one: most batches need few of the rows, and it
    takes longer to add a table full of zeros than to do all the rest.
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
