"""Columns of keys: what their layers can do for those who mix them.

A token has a key for each of its attributes. A layer that embeds one such column says
of which kind it is by an attribute, which is not saved with it, and which a wrapped
layer, with another forward function, does not offer:

    attrs={"column_kind": HashColumn}

Every column can embed the distinct values of a batch once. If its vectors are sums of
rows of a table, weighted or not, it can say which rows: on the CPU the table is then
multiplied with what comes next once and for all (see `mixedembed.py`), and kernels for
GPUs find the rows if it says how.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.rows import Finder, Weights
from ..thinc_internals import get_forward

#: Array of numpy's or CuPy's, as the layer's ops have them.
Array = Any

Backprop = Callable[[Array], object]


class Column:
    """Column of keys that a layer embeds. A kind of them is a class with what differs.

    Keys are of shape `(m,)`, uint64; vectors and tables float32. `check` goes before
    all else.

    model (Model): The layer.
    attr (str): What the keys are values of, where that is known, such as "NORM".
    """

    #: Forward function of layers that are of this kind by their attribute.
    forward: ClassVar[Callable | None] = None

    #: True if vectors are sums of rows of a table, and if these have weights.
    has_rows: bool = False
    has_weights: bool = False

    #: True if vectors depend on nothing but keys and what a plan watches. On the CPU,
    #: prediction then caches them.
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
        """Check weights and attributes once they arrive: see `check_once`."""

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, mostly distinct, each on its own."""
        return self.model(keys, is_train)

    def replace_keys(self, keys: NDArray) -> Array:
        """Replace keys of tokens in training, in memory of the processor."""
        return keys

    def find_rows(self, keys: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys in the table `E`, `(m, k)`, uint32, and their weights,
        of the same shape, if these are not 1.
        """
        raise NotImplementedError

    def get_finder(self) -> Finder | None:
        """Return how kernels find the rows, or None if they can't."""
        return None

    def get_weights(self) -> Weights | None:
        """Return how kernels find the weights on the CPU, or None if they can't."""
        return None

    def weigh_keys(self, keys: Array) -> tuple[Array, Array, Backprop]:
        """Weigh the rows of keys on a GPU, where these have weights.

        Gives the keys by which rows are found, and the weights, `(n, k)`.
        """
        raise NotImplementedError


def find_column(model: Model) -> Column | None:
    """Find what a layer offers, or None if it offers nothing."""
    kind = model.attrs.get("column_kind")
    if not (isinstance(kind, type) and issubclass(kind, Column)):
        return None
    return kind(model) if kind.forward is get_forward(model) else None
