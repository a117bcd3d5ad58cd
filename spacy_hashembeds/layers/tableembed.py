"""Layers that embed integers by rows of a table `E`, and what they share.

A kind of rows is a class of `TableColumn`: how rows are found, checked and counted. All
else goes by it, whatever the kind: training and prediction, kernels, folding, and what
`analyze` measures.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops, chain
from thinc.types import Floats2d, Ints1d, Ints2d

from ..hashing import murmur
from ..kernels.cuda import is_used_by
from ..kernels.rows import Finder, Lookup
from ..kernels.sums import NUMPY_OPS, gather_add
from ..thinc_internals import get_dims, get_forward, ints_getitem, partial
from .checks import check_attr
from .mixing.column import Array, Backprop, Column
from .mixing.gputables import embed_ids
from .params import check_once
from .symboltaker import Symbols, look_up
from .table import finish_forward, get_table

InT = TypeVar("InT", bound=Ints1d | Ints2d)
OutT = Floats2d


def TableEmbed(
    name: str,
    kind: type["TableColumn"],
    *,
    dims: Mapping[str, int | None],
    attrs: Mapping[str, Any],
    initializer: Any,
    column: int | None,
    dropout: float | None,
    params: str = "E",
) -> Model[InT, OutT]:
    """Make a layer that embeds integers by rows of tables.

    With `column` it embeds this column of a two-dimensional input. With `dropout` whole
    output dimensions are dropped for all keys of a batch together; spaCy's trainer sets
    the rate itself. What takes symbols has a "key" among its `attrs`.
    """
    model: Model = Model(
        name,
        forward,
        init=partial(init, initializer),
        params=dict.fromkeys(params),
        dims={**dims, "nI": None},
        attrs={"column": column, **attrs, "column_kind": kind},
    )
    if "key" in attrs:
        model.attrs["symbol_taker"] = take_symbols
    if dropout is not None:
        model.attrs["dropout_rate"] = dropout
    if column is None:
        return model
    columns: Model = chain(ints_getitem((slice(0, None), column)), model)
    columns.attrs["column"] = column
    return columns


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    column, ops = _get_column(model), cast(Any, model.ops)
    if is_train and column.replaces_keys:
        # where there is no id, Thinc cuts no column out of the matrix
        keys = ops.to_numpy(ids).astype("uint64").reshape((-1,))
        ids = ops.asarray(column.replace_keys(keys))
    return cast(tuple, column.embed(ids, is_train))


def init(initializer: Any, model: Model, X: Any = None, Y: Any = None) -> None:
    _get_column(model).initialize(initializer)


def take_symbols(model: Model, symbols: Symbols) -> None:
    _get_column(model).take_symbols(symbols)


def _get_column(model: Model) -> "TableColumn":
    # not by `find_column`: somebody may have wrapped the forward function
    kind = model.attrs["column_kind"]
    is_kind = isinstance(kind, type) and issubclass(kind, TableColumn)
    check_attr(model, "column_kind", is_kind, "the layer's own, and in no file")
    return kind(model)


class TableColumn(Column):
    """Column of keys whose vectors are sums of rows of the layer's table.

    A kind of rows is a class with a name, `kind`, with `check_weights` and
    `make_finder`, and what differs of the rest.
    """

    kind: ClassVar[str]
    forward = staticmethod(forward)
    has_rows = True

    def check_weights(self) -> None:
        """Check weights and attributes, which may come from a file."""
        raise NotImplementedError

    def make_finder(self, ops: Ops) -> Finder:
        """Say how rows are found, by attributes that are checked."""
        raise NotImplementedError

    def initialize(self, initializer: Any) -> None:
        """Set the table to what an initializer makes of its shape."""
        shape = (self.n_rows, self.width)
        self.model.set_param("E", initializer(self.model.ops, shape))

    def take_symbols(self, symbols: Symbols) -> None:
        """Take the symbols of a corpus: see `symboltaker.py`."""
        raise NotImplementedError

    def check(self) -> None:
        """Check weights and attributes once they arrive."""
        check_once(self.model, lambda _: self.check_weights())

    def get_finder(self) -> Finder | None:
        """Say how kernels find the rows."""
        self.check()
        return self.make_finder(self.model.ops)

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, of any integer dtype, each on its own."""
        model = self.model
        if is_used_by(model.ops):
            return embed_ids(self, keys, is_train)
        rows, _ = self.find_rows(keys)
        table: Any = get_table(model)
        summed: Any = gather_add(table, rows)
        return finish_forward(model, rows, summed, is_train)

    def find_rows(self, keys: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys, none of which has weights."""
        self.check()
        finder = self.make_finder(self.model.ops)
        return find_rows(self.model.ops, finder, keys, self.n_rows), None

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.model.get_dim("nV")

    @property
    def row_width(self) -> int:
        """Width of a row."""
        return self.width

    @property
    def parts(self) -> dict[str, int]:
        """Its parameters, by what they are."""
        return {"rows": self.n_rows * self.row_width}

    @property
    def symbols(self) -> NDArray | None:
        """Symbols that have a row each, ascending, `(n,)`, if any are known yet."""
        return self.model.attrs.get("symbols")

    def find_code(self, keys: NDArray) -> NDArray:
        """Find the rows of keys, which need no weights. *Shape:* `(n, k)`, uint64."""
        finder = self.make_finder(NUMPY_OPS)
        found: Any = find_rows(NUMPY_OPS, finder, cast(Any, keys), self.n_rows)
        return found.astype("uint64")

    def identify(self, keys: NDArray) -> NDArray:
        """Give `(n, k)`, uint64, equal where vectors are: no order of rows matters."""
        return np.sort(self.find_code(keys), axis=1)


class HashedColumn(TableColumn):
    """Column of keys of which some have rows by hashing."""

    #: The attribute that is the seed of the hashes.
    seed_name: ClassVar[str] = "seed"

    @property
    def num_hashes(self) -> int:
        """Rows of a key that is hashed."""
        return self.model.attrs["num_hashes"]

    @property
    def seed(self) -> int:
        """Seed of the hashes."""
        return self.model.attrs[self.seed_name]

    def reseed(self, seed: int) -> Self:
        """Make one of a layer with another seed, and no weights."""
        model = self.model
        layer: Model = Model(
            model.name,
            get_forward(model),
            dims=dict(get_dims(model)),
            attrs={**model.attrs, self.seed_name: seed},
            ops=model.ops,
        )
        return type(self)(layer, self.attr)


def find_rows(ops: Ops, finder: Finder, ids: Ints1d, n_rows: int) -> Ints2d:
    """Find the rows to sum for each key in a table, `(n, num_hashes)`, uint32.

    A key that has a row of its own beside hashed ones has no more: the row after the
    last stands for none.
    """
    if isinstance(finder, Lookup):
        return look_up(ops, ids, finder.symbols, unk=finder.unk)
    symbols, n = finder.symbols, 0 if finder.symbols is None else len(finder.symbols)
    # where there is no id, Thinc cuts no column out of the matrix
    keys = ops.as_contig(ids, dtype="uint64").reshape((-1,))
    hashing = {"seed": finder.seed, "num_hashes": finder.num_hashes}
    rows = murmur.find_rows(ops, keys, **hashing, rows=n_rows - n)
    if n > 0:
        rows += n
        places = symbols.searchsorted(keys)
        is_frequent = symbols.take(places, mode="clip") == keys
        np.copyto(rows, n_rows, where=is_frequent[:, None])
        np.copyto(rows[:, 0], places, where=is_frequent, casting="unsafe")
    return rows.astype("uint32", copy=False)
