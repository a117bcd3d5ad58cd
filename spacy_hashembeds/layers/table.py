"""What every layer with an embedding table `E` does in the same way."""

from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model, chain
from thinc.layers.array_getitem import ints_getitem
from thinc.types import Floats2d, Ints1d, Ints2d

from .checks import check_param
from .gradients import inc_table_grad
from .params import peek


def finish_layer(model: Model, column: int | None, dropout: float | None) -> Model:
    """Give a layer that embeds integers what all of them have as options.

    column (int, optional): Embed this column of a two-dimensional input.
    dropout (float, optional): If given, whole output dimensions are dropped for all
        keys of a batch together. spaCy's trainer sets the rate itself.
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
    """Check that the table is the layer's.

    A table of another width, which Thinc loads too, would surface layers later, and one
    with too few rows not at all.
    """
    check_param(model, "E", (model.get_dim("nV"), model.get_dim("nO")))


def finish_forward(
    model: Model, rows: Ints2d, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ints1d]]:
    """Finish a layer's forward pass with dropout, and make its backward pass.

    rows (Ints2d): The rows that were summed for each output. *Shape:* `(n, k)`.
    output (Floats2d): Their sums. *Shape:* `(n, nO)`.
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

    RETURNS (tuple): The output, and the function that backpropagates through it,
        which makes a new array instead of changing the gradient it is given.
    """
    rate = model.attrs.get("dropout_rate")
    if not is_train or not rate:
        return output, lambda d_output: d_output
    mask = model.ops.get_dropout_mask((output.shape[1],), rate)
    return output * mask, lambda d_output: d_output * mask
