"""Gradients of parameters, added up from what fast paths compute."""

from typing import Any, cast

from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats2d, Ints2d

from .watch import peek


def inc_grad(model: Model, name: str, grad: NDArray) -> None:
    """Add to the gradient of a parameter, whatever the layout of what is added."""
    model.inc_grad(name, model.ops.as_contig(cast(Any, grad)))


def inc_maxout_grads(maxout: Model, dW: NDArray, db: NDArray) -> None:
    """Put gradients back into Thinc's layout: see `kernels.mixing.pieces_first`."""
    nO, nP = maxout.get_dim("nO"), maxout.get_dim("nP")
    dW = dW.reshape(nP, nO, -1).transpose(1, 0, 2)
    inc_grad(maxout, "W", dW)
    inc_grad(maxout, "b", db.reshape(nP, nO).T)


def inc_table_grad(model: Model, name: str, rows: Ints2d, d_output: Floats2d) -> None:
    """Add the gradient of an output to those of the rows that were summed for it.

    name (str): The parameter whose rows they are. *Shape:* `(rows, width)`.
    rows (Ints2d): The rows of each output. *Shape:* `(n, k)`, unsigned.
    d_output (Floats2d): *Shape:* `(n, width)`.
    """
    # Into the gradient itself where there is one: most batches need few of the rows,
    # and it takes longer to add a table full of zeros than to do all the rest.
    is_first = not model.has_grad(name)
    dE = alloc_table(model, name) if is_first else cast(Any, model.get_grad(name))
    for rows_of_hash in model.ops.as_contig(rows.T, dtype="i"):
        model.ops.scatter_add(dE, rows_of_hash, d_output)
    if is_first:
        model.inc_grad(name, dE)


def alloc_table(model: Model, name: str) -> Any:
    """Make a table of zeros, of the shape of the parameter."""
    return model.ops.alloc2f(*peek(model, name).shape)


def has_waiting_gradient(model: Model) -> bool:
    """Tell whether a LayerNorm has a gradient that an optimizer has yet to apply.

    Optimizers leave zeros. That of the shift is the sum of the output's gradients.
    """
    return model.has_grad("b") and bool(cast(NDArray, model.get_grad("b")).any())
