"""What every layer with an embedding table `E` does in the same way."""

from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model
from thinc.types import Floats2d


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
    E = cast(Floats2d, model.get_param("E"))
    shape = (model.get_dim("nV"), model.get_dim("nO"))
    if E.shape != shape or E.dtype != "float32":
        raise ValueError(
            f"The table 'E' of layer '{model.name}' should be float32 of shape "
            f"{shape}, but is {E.dtype} of shape {E.shape}. Were the weights saved "
            "by a pipeline with another config?"
        )
    return E


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
