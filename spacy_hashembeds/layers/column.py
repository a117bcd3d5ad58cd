"""Columns of keys: the interface between embedding layers and code that mixes vectors.

A token has one key per attribute. A layer that embeds one column of keys names its
subclass of `Column` in an attribute:

    attrs={"column_kind": HashColumn}

The attribute is not saved with the layer, and is ignored if the layer's forward
function has been replaced, for instance by wrapping the layer.

If vectors are sums of table rows, weighted or not, `find_rows` returns the rows; on the
CPU, the table can then be multiplied with the next layer's weights in advance (see
`folding.py`). If `get_finder` returns a finder, kernels find the rows.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.rows import Finder, Weights
from ..thinc_internals import get_forward

#: Array of numpy or CuPy.
Array = Any

Backprop = Callable[[Array], object]


class Column:
    """Column of keys that a layer embeds. Each kind of column is a subclass.

    Keys are of shape `(m,)`, uint64; vectors and tables are float32. Call `check`
    before other methods.

    model (Model): The layer.
    attr (str): The token attribute of the keys, if known, such as "NORM".
    """

    #: Forward function of layers of this kind.
    forward: ClassVar[Callable | None] = None

    #: True if vectors are sums of rows of a table, and if the rows are weighted.
    has_rows: bool = False
    has_weights: bool = False

    #: True if prediction on the CPU caches products of vectors. Vectors may then depend
    #: only on keys and on the state that a plan compares.
    is_cached: bool = False

    #: True if `replace_keys` changes keys in training.
    replaces_keys: bool = False

    def __init__(self, model: Model, attr: str = "") -> None:
        self.model, self.attr = model, attr

    @property
    def width(self) -> int:
        """Width of a vector."""
        return self.model.get_dim("nO")

    def check(self) -> None:
        """Check weights and attributes after they were set: see `check_once`."""

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, independently of each other. Most keys are distinct."""
        return self.model(keys, is_train)

    def replace_keys(self, keys: NDArray) -> Array:
        """Replace keys of tokens in training, before deduplication, on the CPU."""
        return keys

    def find_rows(self, keys: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys in the table `E`, `(m, k)`, uint32, and the weights of
        rows, `(m, k)`, or None if unweighted.
        """
        raise NotImplementedError

    def get_finder(self) -> Finder | None:
        """Return the finder of rows for kernels, or None if kernels can't find them."""
        return None

    def get_weights(self) -> Weights | None:
        """Return the weights for CPU kernels, or None if kernels can't use them."""
        return None

    def weigh_keys(self, keys: Array) -> tuple[Array, Array, Backprop]:
        """Find the weights of rows on a GPU, if `has_weights`.

        Return the keys to find rows with, the weights, `(n, k)`, and a callback.
        """
        raise NotImplementedError


def find_column(model: Model) -> Column | None:
    """Return the column of a layer, or None for another or a wrapped layer."""
    kind = model.attrs.get("column_kind")
    if not (isinstance(kind, type) and issubclass(kind, Column)):
        return None
    return kind(model) if kind.forward is get_forward(model) else None
