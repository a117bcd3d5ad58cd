"""Columns of keys: what their layers can do for those who mix them.

A token has a key for each of its attributes. A layer that embeds one such column says
of which kind it is by an attribute, which is not saved with it, and which a wrapped
layer, with another forward function, does not offer:

    attrs={"column_kind": HashColumn}

Every column can embed the distinct values of a batch once. If its vectors are sums of
rows of a table, weighted or not, it can say which rows: on the CPU the table is then
multiplied with what comes next once and for all (see `folding.py`), and kernels for
GPUs find the rows if it says how.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray
from thinc.api import Model

from ...kernels.cuda import is_used_by
from ...kernels.rows import Finder, Weights
from ...thinc_internals import get_forward
from ..maxout import check_maxout
from ..table import get_table

#: An array of the backend that the layer's ops are of: numpy's or CuPy's.
Array = Any

Backprop = Callable[[Array], object]


class Weighed(NamedTuple):
    """Keys, by which rows are found, and the rows' weights, `(n,)` and `(n, k)`."""

    keys: Array
    weights: Array
    backprop: Backprop


class Column:
    """Column of keys that a layer embeds. A kind of them is a class with what differs.

    Keys are of shape `(m,)`, uint64; vectors and tables float32.

    model (Model): The layer.
    attr (str): What the keys are values of, where that is known, such as "NORM".
    """

    #: The forward function of layers that are of this kind by their attribute.
    forward: ClassVar[Callable | None] = None

    #: Whether vectors are sums of rows of a table, and whether these have weights.
    has_rows: bool = False
    has_weights: bool = False

    #: Whether vectors depend on keys, and on what a plan looks at, alone: then, on the
    #: CPU, prediction keeps what it made of keys.
    is_kept: bool = False

    def __init__(self, model: Model, attr: str = "") -> None:
        self.model, self.attr = model, attr

    @property
    def width(self) -> int:
        """The width of a vector."""
        return self.model.get_dim("nO")

    @property
    def replaces_keys(self) -> bool:
        """Tell whether training replaces keys, before equal ones are embedded once."""
        return False

    def check(self) -> None:
        """Check weights and attributes once they arrive: see `check_once`."""

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, mostly distinct, each on its own."""
        return self.model(keys, is_train)

    def replace_keys(self, keys: NDArray) -> NDArray:
        """Replace keys of tokens in training, in memory of the processor."""
        return keys

    def get_table(self) -> Array:
        """Get the table to fold, that has the rows. *Shape:* `(rows, nO)`, float32."""
        return get_table(self.model)

    def count_folded_rows(self) -> int:
        """Count the rows of this table."""
        return len(self.get_table())

    def find_rows(self, keys: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys in this table, `(m, k)`, uint32, and their weights, of
        the same shape, if these are not 1.
        """
        raise NotImplementedError

    def get_finder(self) -> Finder | None:
        """Say how kernels find the rows, or None if they can't."""
        return None

    def get_weights(self) -> Weights | None:
        """Say how kernels find the weights on the CPU, or None if they can't."""
        return None

    def weigh_keys(self, keys: Array) -> Weighed:
        """Weigh the rows of keys on a GPU, where these have weights."""
        raise NotImplementedError


def find_column(model: Model) -> Column | None:
    """Find what a layer offers, or None if it offers nothing."""
    kind = model.attrs.get("column_kind")
    if not (isinstance(kind, type) and issubclass(kind, Column)):
        return None
    return kind(model) if kind.forward is get_forward(model) else None


@dataclass(frozen=True)
class Mixer:
    """Layers of columns, in order, and Thinc's that mix their vectors side by side."""

    columns: Sequence[Column]
    maxout: Model
    layernorm: Model
    dropout: Model | None

    @cached_property
    def is_on_gpu(self) -> bool:
        """Tell whether its layers are computed by CuPy."""
        return is_used_by(self.maxout.ops)

    def check(self) -> None:
        """Check weights and attributes of all layers once they arrive."""
        for column in self.columns:
            column.check()
        n_inputs = sum(column.width for column in self.columns)
        check_maxout(self.maxout, self.layernorm, nI=n_inputs)

    def replace_keys(self, keys: NDArray) -> None:
        """Replace keys in training, in place. *Shape:* `(n, columns)`, uint64."""
        for i, column in enumerate(self.columns):
            if column.replaces_keys:
                keys[:, i] = column.replace_keys(keys[:, i])

    @cached_property
    def embedding(self) -> list[Model]:
        """The layers of the columns."""
        return [column.model for column in self.columns]

    @cached_property
    def folded(self) -> list[Model]:
        """The layers whose parameters are folded."""
        models = [c.model for c in self.columns if c.has_rows or c.is_kept]
        return [*models, self.maxout, self.layernorm]

    def split_columns(self, W: Any) -> list[Any]:
        """Cut Maxout's weights by column. *Shape:* `(m, nI)` to `(m, width)` each."""
        parts, start = [], 0
        for column in self.columns:
            parts.append(W[:, start : start + column.width])
            start += column.width
        return parts
