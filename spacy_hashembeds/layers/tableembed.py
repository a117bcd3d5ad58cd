"""Layers that embed integers by rows of a table `E`, chosen by hashing here, and by
lookup in `symbolembed.py`.

Each kind of table is a subclass of `TableColumn`, whose methods find, check and count
rows for training, prediction, kernels, folding and `analyze`.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops, chain, uniform_init
from thinc.types import Floats2d, Ints1d, Ints2d

from ..hashing import murmur
from ..hashing.collisions import expected_colliding, expected_rows_reached
from ..kernels.rows import NUMPY_OPS, Finder, Hashing, gather_add, is_on_gpu
from ..thinc_internals import ints_getitem, partial
from .checks import check_attr, check_foreign, check_integer, check_once, peek
from .column import Array, Backprop, Column
from .gpuembed import embed_ids
from .tables import check_table, finish_forward

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

    With `column`, the layer embeds this column of a two-dimensional input. With
    `dropout`, whole output dimensions are dropped, the same for all keys of a batch;
    spaCy's trainer overrides the rate.
    """
    model: Model = Model(
        name,
        forward,
        init=partial(init, initializer),
        params=dict.fromkeys(params),
        dims={**dims, "nI": None},
        attrs={"column": column, **attrs, "column_kind": kind},
    )
    if dropout is not None:
        model.attrs["dropout_rate"] = dropout
    if column is None:
        return model
    selected: Model = chain(ints_getitem((slice(0, None), column)), model)
    selected.attrs["column"] = column
    return selected


def forward(model: Model, ids: Array, is_train: bool) -> tuple[Array, Backprop]:
    column = _get_column(model)
    column.check()
    ids = ids.reshape((-1,))  # Thinc does not select a column of empty input
    if is_train and column.replaces_keys:
        keys = model.ops.to_numpy(ids).astype("uint64")
        ids = model.ops.asarray(column.replace_keys(keys))
    return column.embed(ids, is_train)


def init(initializer: Any, model: Model, X: Any = None, Y: Any = None) -> None:
    _get_column(model).initialize(initializer)


def _get_column(model: Model) -> "TableColumn":
    # not `find_column`: the forward function may be wrapped
    kind = model.attrs["column_kind"]
    is_kind = isinstance(kind, type) and issubclass(kind, TableColumn)
    check_attr(model, "column_kind", is_kind, "a TableColumn, and not in a file")
    return kind(model)


class TableColumn(Column):
    """Column of keys whose vectors are sums of rows of the layer's table.

    A subclass sets `kind` and implements `check_weights`, `get_finder` and `locate`. If
    its vectors are not plain sums of rows, it sets `has_rows = False` and
    `is_cached = True`, overrides `embed`, and its `get_finder` returns None.
    """

    kind: ClassVar[str]
    forward = staticmethod(forward)
    has_rows = True

    def check_weights(self) -> None:
        """Check weights and attributes."""
        raise NotImplementedError

    def locate(self, ops: Ops, keys: Array) -> Array:
        """Find the rows to sum for each key, `(m, k)`, uint32."""
        raise NotImplementedError

    def initialize(self, initializer: Any) -> None:
        """Initialize the table."""
        shape = (self.n_rows, self.row_width)
        self.model.set_param("E", initializer(self.model.ops, shape))

    def check(self) -> None:
        """Check weights and attributes when they are set or loaded."""
        check_once(self.model, lambda _: self.check_weights())

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys of any integer dtype, independently of each other."""
        model, is_gpu = self.model, is_on_gpu(self.model.ops)
        if is_gpu and self.get_finder() is not None:
            return embed_ids(self, keys, is_train)
        E, rows = peek(model, "E"), self.locate(model.ops, keys)
        summed: Any = E[rows].sum(axis=1) if is_gpu else gather_add(E, rows)
        return finish_forward(model, rows, summed, is_train)

    def find_rows(self, keys: Array) -> tuple[Array, Array | None]:
        """Find the rows of keys: see `Column`."""
        return self.locate(self.model.ops, keys), None

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return self.model.get_dim("nV")

    @property
    def row_width(self) -> int:
        """Width of a row."""
        return self.width

    @property
    def parts(self) -> dict[str, int]:
        """Number of parameters, by their kind."""
        return {"rows": self.n_rows * self.row_width}

    @property
    def symbols(self) -> NDArray | None:
        """Ascending symbols with a row each, `(n,)`, or None if not set."""
        return self.model.attrs.get("symbols")

    def find_code(self, keys: NDArray) -> NDArray:
        """Find the rows of keys. *Shape:* `(n, k)`, uint64."""
        return self.locate(NUMPY_OPS, keys).astype("uint64")

    def identify(self, keys: NDArray) -> NDArray:
        """Return sorted rows, which identify a vector. *Shape:* `(n, k)`, uint64."""
        return np.sort(self.find_code(keys), axis=1)

    def split_code(self, keys: NDArray) -> dict[str, NDArray]:
        """Return parts of codes by name, for counts of keys that share a part."""
        return {}

    def expect(self, keys: NDArray) -> dict[str, float]:
        """Return expected values of measures for ideal hashing, by name."""
        return {}

    def is_unknown(self, keys: NDArray) -> NDArray | None:
        """True for unknown keys, `(n,)`, or None without symbols."""
        return None


class HashColumn(TableColumn):
    """Column of keys whose rows are found by hashing. Also measures Thinc's layer."""

    kind = "hash"

    #: Name of the attribute with the seed of the hashes.
    seed_name: ClassVar[str] = "seed"

    def __init__(self, model: Model, attr: str = "") -> None:
        super().__init__(model, attr)
        self.seed: int = model.attrs[self.seed_name]
        # Thinc's own layer has no such attribute
        self.num_hashes: int = model.attrs.get("num_hashes", murmur.MAX_HASHES)

    def check_weights(self) -> None:
        """Check weights and attributes."""
        check_foreign(self.model, "hashes", "symbols")
        check_integer(self.model, "seed", 0, 2**32 - 1)
        check_integer(self.model, "num_hashes", 1, murmur.MAX_HASHES)
        check_table(self.model)

    def get_finder(self) -> Finder | None:
        """Return the finder for kernels, or None if a subclass overrides `locate`."""
        is_plain = type(self).locate is HashColumn.locate
        return Hashing(self.seed, self.num_hashes) if is_plain else None

    def locate(self, ops: Ops, keys: Array) -> Array:
        """Find the rows to sum for each key, `(m, num_hashes)`, uint32."""
        hashing = {"seed": self.seed, "num_hashes": self.num_hashes}
        rows = murmur.find_rows(ops, keys, **hashing, rows=self.n_rows)
        return rows.astype("uint32", copy=False)

    def find_hashed(self, keys: NDArray) -> NDArray:
        """Find the row of each hash. *Shape:* `(n, num_hashes)`, uint64."""
        return self.find_code(keys)

    def expect(self, keys: NDArray) -> dict[str, float]:
        """Return expected values of measures for ideal hashing, by name."""
        n, n_rows, k = len(keys), self.n_rows, self.num_hashes
        return {
            "rows_never_reached": n_rows - expected_rows_reached(n, n_rows, k),
            "sharing_row": expected_colliding(n, n_rows, 1),
            "sharing_code": expected_colliding(n, n_rows, k),
        }


def HashEmbed(
    nO: int,
    nV: int,
    *,
    num_hashes: int = murmur.MAX_HASHES,
    seed: int,
    column: int | None = None,
    initializer: Callable = uniform_init,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map integers to the sum of one to four rows of a table, chosen by hashing.

    With four hashes, this equals Thinc's `HashEmbed.v1`, except that empty input works
    in both passes, that backpropagation does not modify the incoming gradient, and that
    the seed is required.

    nO, nV (int): The width of the table and of the output, and the number of rows.
    num_hashes (int): Number of rows to sum, 1 to 4. Row k of key x is
        `murmur(x, seed)[k] % nV`: fewer hashes use a prefix of the same rows. Default:
        4.
    seed (int): The hash seed, an unsigned 32-bit integer.
    initializer (Callable): Fills the table. Default: uniform numbers in ±0.1.
    column, dropout: See `TableEmbed`.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32.

    Sources: Svenstrup et al. (2017), and Miranda et al., "Multi hash embeddings in
    spaCy", §3.1, equation 2.
    """
    return TableEmbed(
        "hashembed",
        HashColumn,
        dims={"nO": nO, "nV": nV},
        attrs={"seed": seed, "num_hashes": num_hashes},
        initializer=initializer,
        column=column,
        dropout=dropout,
    )
