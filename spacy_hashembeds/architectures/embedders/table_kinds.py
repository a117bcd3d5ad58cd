"""The kinds of tables that embed an attribute: their sizes, and the rows of values."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ...hashing.murmur import MAX_HASHES
from ...kernels.rows import Finder, Hashing, Lookup
from ...kernels.sums import NUMPY_OPS
from ...layers.table import find_rows


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that embeds an attribute, whose vectors are sums of its rows.

    A kind of them is a class with a name, `kind`, with `read` and `find_code`, and what
    differs of the rest.
    """

    kind: ClassVar[str]

    attr: str
    rows: int
    width: int

    @classmethod
    def read(cls, layer: Model, attr: str) -> Self:
        """Read off a layer what there is to know of its table."""
        raise NotImplementedError

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values. *Shapes:* `(n,)` to `(n, k)`, uint64."""
        raise NotImplementedError

    def identify(self, values: NDArray) -> NDArray:
        """Give `(n, k)`, uint64, equal where vectors are: no order of rows matters."""
        return np.sort(self.find_code(values), axis=1)

    @property
    def parts(self) -> dict[str, int]:
        """Its parameters, by what they are."""
        return {"rows": self.rows * self.width}


@dataclass(frozen=True, kw_only=True)
class HashTable(Table):
    """A table in which each value gets `num_hashes` rows by hashing."""

    kind = "hash"

    num_hashes: int
    seed: int

    @classmethod
    def read(cls, layer: Model, attr: str) -> Self:
        """Read a `HashEmbed`, ours or Thinc's."""
        return cls(
            attr=attr,
            rows=layer.get_dim("nV"),
            width=layer.get_dim("nO"),
            num_hashes=layer.attrs.get("num_hashes", MAX_HASHES),
            seed=layer.attrs["seed"],
        )

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values. *Shape:* `(n, num_hashes)`, uint64."""
        return _find_rows(values, Hashing(self.seed, self.num_hashes), self.rows)


@dataclass(frozen=True, kw_only=True)
class LookupTable(Table):
    """A table with a row for each known symbol, and row 0 for all others.

    Symbols ascend, `(n,)`, uint64; None if the table has not got them yet.
    """

    kind = "lookup"

    symbols: NDArray | None

    @classmethod
    def read(cls, layer: Model, attr: str) -> Self:
        """Read a `SymbolEmbed`."""
        return cls.make(attr, layer.get_dim("nO"), layer.attrs["symbols"])

    @classmethod
    def make(cls, attr: str, width: int, symbols: NDArray | None) -> Self:
        """Make a table with rows for symbols."""
        return cls(attr=attr, rows=_count_rows(symbols), width=width, symbols=symbols)

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values. *Shape:* `(n, 1)`, uint64."""
        return _look_up(values, self.symbols)


@dataclass(frozen=True, kw_only=True)
class WeightedTable(Table):
    """A table of component vectors chosen by hashing, and one of weights for them.

    `rows` and `width` are those of component vectors, of which each value gets
    `num_hashes`, and as many weights: of `hashed_weights` rows chosen by hashing, or,
    if that is None, of a row for each of the symbols, as in a `LookupTable`. With
    `same_hash` this row chooses the component vectors too.
    """

    kind = "weighted"

    num_hashes: int
    seed: int
    same_hash: bool = False
    hashed_weights: int | None = None
    symbols: NDArray | None = None

    @classmethod
    def read(cls, layer: Model, attr: str) -> Self:
        """Read a `WeightedHashEmbed`."""
        return cls(
            attr=attr,
            rows=layer.get_dim("nV"),
            width=layer.get_dim("nE"),
            num_hashes=layer.attrs["num_hashes"],
            seed=layer.attrs["hash_seed"],
            same_hash=layer.attrs["same_hash"],
            hashed_weights=None if "symbols" in layer.attrs else layer.get_dim("nK"),
            symbols=layer.attrs.get("symbols"),
        )

    @property
    def importance_rows(self) -> int:
        """Rows of weights."""
        return self.hashed_weights or _count_rows(self.symbols)

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of its two parts, B·d and K·k in the paper's letters."""
        return {
            "components": self.rows * self.width,
            "weights": self.importance_rows * self.num_hashes,
        }

    def find_code(self, values: NDArray) -> NDArray:
        """Find the component vectors of values, and their rows of weights, the last."""
        if self.hashed_weights is None:
            weights = _look_up(values, self.symbols)
        else:
            # one hash more than there are components: independent of theirs
            n_hashes = self.num_hashes + 1
            hashing = Hashing(self.seed, n_hashes)
            weights = _find_rows(values, hashing, self.hashed_weights)[:, -1:]
        keys = weights[:, 0] if self.same_hash else values
        hashing = Hashing(self.seed, self.num_hashes)
        components = _find_rows(keys, hashing, self.rows)
        return np.hstack([components, weights])

    def identify(self, values: NDArray) -> NDArray:
        """Give the code: weights know an order of rows."""
        return self.find_code(values)


@dataclass(frozen=True, kw_only=True)
class HybridTable(Table):
    """A table with a row for each frequent symbol, and hashed rows for all others.

    As long as it has no symbols, its rows are the most that it may have. `symbols` are
    the frequent ones, as those of a `LookupTable`.
    """

    kind = "hybrid"

    num_hashes: int
    seed: int
    symbols: NDArray | None = None

    @classmethod
    def read(cls, layer: Model, attr: str) -> Self:
        """Read a `HybridEmbed`."""
        return cls(
            attr=attr,
            rows=layer.maybe_get_dim("nV") or layer.attrs["rows"],
            width=layer.get_dim("nO"),
            num_hashes=layer.attrs["num_hashes"],
            seed=layer.attrs["seed"],
            symbols=layer.attrs["symbols"],
        )

    @property
    def own_rows(self) -> int:
        """Rows that belong to a symbol each."""
        return _count_rows(self.symbols) - 1

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of its two parts."""
        own = self.own_rows * self.width
        return {"own": own, "hashed": self.rows * self.width - own}

    def are_hashed(self, values: NDArray) -> NDArray:
        """Tell which values have no row of their own. *Shape:* `(n,)`, bool."""
        are_hashed: NDArray = self.find_code(values)[:, 0] >= self.own_rows
        return are_hashed

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values. Those with their own have `rows` for all others."""
        hashing = Hashing(self.seed, self.num_hashes, self.symbols)
        return _find_rows(values, hashing, self.rows)


def _find_rows(values: NDArray, finder: Finder, rows: int) -> NDArray:
    """Find the rows of values. *Shape:* `(n, num_hashes)`, uint64."""
    found: Any = find_rows(NUMPY_OPS, finder, cast(Any, values), rows)
    code: NDArray = found.astype("uint64")
    return code


def _count_rows(symbols: NDArray | None) -> int:
    return 1 if symbols is None else 1 + len(symbols)


def _look_up(values: NDArray, symbols: NDArray | None) -> NDArray:
    """Number the rows of values, 0 for all without a symbol. *Shape:* `(n, 1)`."""
    known = np.zeros(0, "uint64") if symbols is None else symbols
    return _find_rows(values, Lookup(known, unk=0), len(known) + 1)
