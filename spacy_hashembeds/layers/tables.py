"""Checks, dropout and gradients of layers with a table of rows."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.types import Floats2d, Ints1d, Ints2d

from ..kernels.rows import is_on_gpu, scatter_add
from .checks import check_params, table_gradient
from .gpuembed import scatter_sums


def check_table(model: Model) -> None:
    # Thinc loads tables of any shape: without this check, a wrong width raises an error
    # in a later layer, and a wrong number of rows raises none
    check_params(model, {"E": (model.get_dim("nV"), model.get_dim("nO"))})


def apply_dropout(
    model: Model, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Drop whole output dimensions, as Thinc does, but keep incoming gradients."""
    rate = model.attrs.get("dropout_rate")
    if not is_train or not rate:
        return output, lambda d_output: d_output
    mask = model.ops.get_dropout_mask((output.shape[1],), rate)
    return output * mask, lambda d_output: d_output * mask


def finish_forward(
    model: Model, rows: Ints2d, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ints1d]]:
    """Apply dropout to the sums of rows, `(n, k)`, and return the backward pass."""
    output, backprop_dropout = apply_dropout(model, output, is_train)

    def backprop(d_output: Floats2d) -> Ints1d:
        inc_table_grad(model, "E", rows, backprop_dropout(d_output))
        return model.ops.alloc1i(len(rows))

    return output, backprop


def inc_table_grad(model: Model, name: str, rows: Ints2d, d_output: Floats2d) -> None:
    """Add to the gradient of a table by `add_row_gradients`."""
    with table_gradient(model, name) as dE:
        add_row_gradients(model.ops, rows, d_output, dE)


def add_row_gradients(ops: Any, rows: Any, d_output: Any, gradient: Any) -> None:
    """Add the gradient of each sum of rows to the gradients of the rows, in place.

    *Shapes:* `(n, k)`, integers; `(n, width)` and `(rows, width)`, float32, contiguous.
    """
    if is_on_gpu(ops):
        scatter_sums(ops, rows, d_output, gradient)
    else:
        scatter_add(gradient, rows, d_output)
