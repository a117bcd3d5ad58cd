"""Columns of keys: functions of a layer for those who mix them, beside its forward.

A token has a key for each of its attributes. A layer that embeds one such column says
how by an attribute, which is not saved with it, and which a wrapped layer, with another
forward function, does not offer:

    attrs={"column_functions": ColumnFunctions(forward, get_finder=get_finder)}

Every column can embed the distinct values of a batch once. If its vectors are sums of
rows of a table, weighted or not, it can say which rows: on the CPU the table is then
multiplied with what comes next once and for all (see `folding.py`), and kernels for
GPUs find the rows if it says how.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from numpy.typing import NDArray
from thinc.api import Model

from ...kernels.rows import Finder, Weights
from ..maxout import check_maxout
from ..params import check_once
from ..table import find_rows, get_table

#: An array of the backend that the layer's ops are of: numpy's or CuPy's.
Array = Any

Backprop = Callable[[Array], object]


class Weighed(NamedTuple):
    """Keys, by which rows are found, and the rows' weights, `(n,)` and `(n, k)`."""

    keys: Array
    weights: Array
    backprop: Backprop


class ColumnFunctions(NamedTuple):
    """Functions of a layer for a column of keys. Each is given the layer first.

    Keys are of shape `(m,)`, uint64; vectors and tables float32.

    forward: The forward function of the layer that does so. None if nobody asks.
    embed: Embeds keys, mostly distinct, each on its own: given them, and whether in
        training, returns vectors, `(m, nO)`, and their backward pass. By default, the
        layer itself.
    replace_keys: Replaces keys of tokens in training, before equal ones are embedded
        once. Given and gives numpy's arrays, or the same one if nothing is replaced.
    check: Raises a ValueError if weights or attributes can't be the layer's: see
        `check_once`.
    get_table: Gets the table that the vectors are sums of rows of, `(rows, nO)`. By
        default, the parameter `E`.
    count_rows: Counts the rows of this table, where to get it is to make it.
    find_rows: Finds the rows of keys in this table, `(m, k)`, uint32. By default as
        `get_finder` says, unless these are weighted.
    find_weighted_rows: Finds the rows of keys, and their weights, of the same shape,
        float32. None if the vectors are no weighted sums.
    get_finder: Says how the rows are found, or None if kernels can't find them so.
    get_weights: Says how kernels find the weights of these rows, on the CPU. None if
        they are 1, or if kernels can't.
    weigh_keys: Weighs these rows, on a GPU. None if their weights are 1.
    hashers: The layers whose attributes and dimensions vectors depend on, beside keys
        and the layer itself: then, on the CPU, prediction keeps what it made of keys.
        None if they depend on anything else.
    """

    forward: Callable | None = None
    embed: Callable[[Model, Array, bool], tuple[Array, Backprop]] = Model.__call__
    replace_keys: Callable[[Model, NDArray], NDArray] | None = None
    check: Callable[[Model], None] | None = None
    get_table: Callable[[Model], Array] = get_table
    count_rows: Callable[[Model], int] | None = None
    find_rows: Callable[[Model, Array], Array] | None = None
    find_weighted_rows: Callable[[Model, Array], tuple[Array, Array]] | None = None
    get_finder: Callable[[Model], Finder | None] | None = None
    get_weights: Callable[[Model], Weights] | None = None
    weigh_keys: Callable[[Model, Array], Weighed] | None = None
    hashers: Sequence[Model] | None = None


class Column(NamedTuple):
    """A layer that embeds one column of keys, and what it can do."""

    model: Model
    functions: ColumnFunctions

    @property
    def width(self) -> int:
        """The width of a vector."""
        return self.model.get_dim("nO")

    @property
    def has_rows(self) -> bool:
        """Tell whether the vectors are sums of rows of a table."""
        functions = self.functions
        rows = functions.find_rows or functions.find_weighted_rows
        return (rows or functions.get_finder) is not None

    @property
    def is_kept(self) -> bool:
        """Tell whether prediction keeps what it made of keys."""
        return self.functions.hashers is not None

    def check(self) -> None:
        """Check weights and attributes once they arrive."""
        if self.functions.check is not None:
            check_once(self.model, self.functions.check)

    def embed(self, values: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, each on its own."""
        return self.functions.embed(self.model, values, is_train)

    def get_table(self) -> Array:
        """Get the table that has the rows. *Shape:* `(rows, nO)`, float32."""
        return self.functions.get_table(self.model)

    def count_rows(self) -> int:
        """Count the rows of this table."""
        count = self.functions.count_rows
        return len(self.get_table()) if count is None else count(self.model)

    def find_rows(self, values: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys, if there are rows, and their weights, if not 1."""
        functions = self.functions
        if functions.find_weighted_rows is not None:
            return functions.find_weighted_rows(self.model, values)
        if functions.find_rows is not None:
            return functions.find_rows(self.model, values), None
        model, finder = self.model, cast(Finder, self.get_finder())
        return find_rows(model.ops, finder, values, model.get_dim("nV")), None

    def get_finder(self) -> Finder | None:
        """Say how kernels find the rows, if they can: see `ColumnFunctions`."""
        get_finder = self.functions.get_finder
        return None if get_finder is None else get_finder(self.model)


def find_column(model: Model) -> Column | None:
    """Find what a layer offers, or None if it offers nothing."""
    functions = model.attrs.get("column_functions")
    if isinstance(functions, ColumnFunctions) and functions.forward is model._func:
        return Column(model, functions)
    return None


@dataclass(frozen=True)
class Mixer:
    """Layers of columns, in order, and Thinc's that mix their vectors side by side."""

    columns: Sequence[Column]
    maxout: Model
    layernorm: Model
    dropout: Model | None

    def check(self) -> None:
        """Check weights and attributes of all layers once they arrive."""
        for column in self.columns:
            column.check()
        n_inputs = sum(column.width for column in self.columns)
        check_maxout(self.maxout, self.layernorm, nI=n_inputs)

    def replace_keys(self, keys: NDArray) -> None:
        """Replace keys in training, in place. *Shape:* `(n, columns)`, uint64."""
        for i, column in enumerate(self.columns):
            given = keys[:, i]
            if column.functions.replace_keys is not None:
                replaced = column.functions.replace_keys(column.model, given)
                if replaced is not given:
                    keys[:, i] = replaced

    @cached_property
    def embedding(self) -> list[Model]:
        """The layers of the columns, and those that are their hashers."""
        models = [column.model for column in self.columns]
        for column in self.columns:
            models += column.functions.hashers or ()
        return models

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
