"""Columns of keys, the interface of embedding layers for code that mixes their vectors.

A token has a key for each of its attributes. A layer that embeds one column of keys has
an attribute with its subclass of `Column`:

    attrs={"column_kind": HashColumn}

The attribute is not saved with the layer. It is ignored if the layer's forward function
is another one, as after wrapping the layer.

Every column can embed the distinct values of a batch once. If its vectors are sums of
rows of a table, weighted or not, `find_rows` returns the rows: on the CPU, the table
can then be multiplied with the next layer's weights in advance (see `mixedembed.py`).
If `get_finder` returns a finder, kernels on the GPU find the rows themselves.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.rows import Finder, Weights
from ..thinc_internals import get_forward

#: Array of numpy or CuPy, depending on the layer's ops.
Array = Any

Backprop = Callable[[Array], object]


class Column:
    """Column of keys that a layer embeds. Each kind of column is a subclass.

    Keys are of shape `(m,)`, uint64; vectors and tables are float32. Call `check`
    before other methods.

    model (Model): The layer.
    attr (str): The attribute whose values the keys are, if known, such as "NORM".
    """

    #: Forward function that layers of this kind must have.
    forward: ClassVar[Callable | None] = None

    #: True if vectors are sums of rows of a table, and if the rows are weighted.
    has_rows: bool = False
    has_weights: bool = False

    #: True if vectors depend only on keys and on what a plan watches, so that
    #: prediction on the CPU caches them.
    is_kept: bool = False

    #: True if training replaces keys before distinct ones are found.
    replaces_keys: bool = False

    def __init__(self, model: Model, attr: str = "") -> None:
        self.model, self.attr = model, attr

    @property
    def width(self) -> int:
        """The width of a vector."""
        return self.model.get_dim("nO")

    def check(self) -> None:
        """Check weights and attributes after they were set: see `check_once`."""

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, which are mostly distinct, independently of each other."""
        return self.model(keys, is_train)

    def replace_keys(self, keys: NDArray) -> Array:
        """Replace keys of tokens in training. Keys are in CPU memory."""
        return keys

    def find_rows(self, keys: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys in the table `E`, `(m, k)`, uint32, and their weights,
        of the same shape, or None if all weights are 1.
        """
        raise NotImplementedError

    def get_finder(self) -> Finder | None:
        """Return the finder by which kernels find the rows, or None if they can't."""
        return None

    def get_weights(self) -> Weights | None:
        """Return the weights for kernels on the CPU, or None if they can't be used."""
        return None

    def weigh_keys(self, keys: Array) -> tuple[Array, Array, Backprop]:
        """Find the weights of rows on a GPU, if rows are weighted.

        Return the keys by which rows are found, the weights, `(n, k)`, and a callback.
        """
        raise NotImplementedError


def find_column(model: Model) -> Column | None:
    """Return the column of a layer, or None if it is not one of ours or is wrapped."""
    kind = model.attrs.get("column_kind")
    if not (isinstance(kind, type) and issubclass(kind, Column)):
        return None
    return kind(model) if kind.forward is get_forward(model) else None
