"""What every layer with an embedding table `E` does in the same way."""

from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model
from thinc.types import Floats2d, Ints1d, Ints2d

from .watch import peek


def init_table(
    initializer: Callable, model: Model, X: Any = None, Y: Any = None
) -> None:
    """Fill the table `E` of `nV` rows and `nO` columns."""
    shape = (model.get_dim("nV"), model.get_dim("nO"))
    model.set_param("E", initializer(model.ops, shape))


def get_table(model: Model) -> Floats2d:
    """Get the table, or refuse one that is not the layer's.

    Thinc loads parameters without looking at their shape: a table of another width
    would otherwise surface layers later, and one with too few rows not at all.

    RAISES (ValueError): If the shape or the dtype is not the layer's own.
    RETURNS (Floats2d): *Shape:* `(nV, nO)`, float32.
    """
    E = cast(Floats2d, peek(model, "E"))
    shape = (model.get_dim("nV"), model.get_dim("nO"))
    if E.shape != shape or E.dtype != "float32":
        raise ValueError(
            f"The table 'E' of layer '{model.name}' should be float32 of shape "
            f"{shape}, but is {E.dtype} of shape {E.shape}. Were the weights saved "
            "by a pipeline with another config?"
        )
    return E


def begin_update(
    model: Model, rows: Ints2d, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ints1d]]:
    """Finish a layer's forward pass with dropout, and make its backward pass.

    rows (Ints2d): The rows that were summed for each output. *Shape:* `(n, k)`.
    output (Floats2d): Their sums. *Shape:* `(n, nO)`.
    """
    output, backprop_dropout = apply_dropout(model, output, is_train)

    def backprop(d_output: Floats2d) -> Ints1d:
        backprop_table(model, rows, backprop_dropout(d_output))
        return model.ops.alloc1i(len(rows))

    return output, backprop


def backprop_table(model: Model, rows: Ints2d, d_output: Floats2d) -> None:
    """Add the gradient of an output to those of the rows that were summed for it.

    rows (Ints2d): The rows of each output. *Shape:* `(n, k)`, unsigned.
    d_output (Floats2d): *Shape:* `(n, nO)`.
    """
    # Into the gradient itself where there is one: most batches need few of the rows,
    # and it takes longer to add a table full of zeros than to do all the rest.
    is_first = not model.has_grad("E")
    dE = alloc_table(model) if is_first else cast(Floats2d, model.get_grad("E"))
    for rows_of_hash in model.ops.as_contig(rows.T, dtype="i"):
        model.ops.scatter_add(dE, rows_of_hash, d_output)
    if is_first:
        model.inc_grad("E", dE)


def alloc_table(model: Model) -> Floats2d:
    """Make a table of zeros, of the shape of the layer's own."""
    return model.ops.alloc2f(model.get_dim("nV"), model.get_dim("nO"))


def apply_dropout(
    model: Model, output: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Drop whole dimensions of the output, for all rows together, as Thinc does.

    RETURNS (tuple): The output, and the function that backpropagates through it,
        which makes a new array instead of changing the gradient it is given.
    """
    rate = model.attrs.get("dropout_rate")
    if not is_train or not rate:
        return output, _identity
    mask = model.ops.get_dropout_mask((output.shape[1],), rate)
    return output * mask, lambda d_output: d_output * mask


def _identity(d_output: Floats2d) -> Floats2d:
    return d_output
