import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops, uniform_init
from thinc.types import Ints1d

from ..hashing import murmur
from ..hashing.murmur import MAX_HASHES
from ..hashing.reached import count_reached_rows
from ..kernels.cuda import is_used_by
from ..kernels.rows import Hashing
from ..kernels.sums import NUMPY_OPS
from .checks import REMEDY, check_foreign, check_integer
from .mixing.column import Array, Backprop
from .mixing.gputables import GpuCopy
from .symboltaker import Symbols, are_sorted_symbols, get_symbols, set_symbols
from .table import apply_dropout, check_table, get_table, inc_table_grad
from .tableembed import HashedColumn, InT, OutT, TableEmbed


class HybridColumn(HashedColumn):
    """Column of keys with a row for each frequent symbol, hashed ones for others."""

    kind = "hybrid"

    def check_weights(self) -> None:
        """Check weights and attributes, which may come from a file."""
        model = self.model
        check_foreign(model, "hashes what it does not look up", "unk")
        if not model.has_param("E"):
            get_symbols(model)
        nV = model.maybe_get_dim("nV")
        if not are_sorted_symbols(self.symbols) or nV is None or self.own_rows >= nV:
            raise ValueError(
                f"The symbols for {model.attrs['key']} should be distinct numbers in "
                f"ascending order, fewer than the {nV} rows, but are not. {REMEDY}"
            )
        # read where training begins anew: the most that there may be
        check_integer(model, "rows", nV, 2**32)
        check_integer(model, "seed", 0, 2**32 - 1)
        check_integer(model, "num_hashes", 1, MAX_HASHES)
        check_table(model)

    def make_finder(self, ops: Ops) -> Hashing:
        """Say how rows are found: all of them by hashing, if there are no symbols."""
        symbols = self.symbols
        if symbols is not None:
            symbols = self.model.attrs["gpu_symbols"].get(ops, symbols)
        n_hashed = self.n_rows - self.own_rows
        return Hashing(self.seed, self.num_hashes, symbols, n_hashed)

    def initialize(self, initializer: Any) -> None:
        """Set the table, for which symbols have to be there."""
        get_symbols(self.model)  # without them, nothing says how many rows there are
        self.model.get_dim("nV")
        super().initialize(initializer)

    def take_symbols(self, symbols: Symbols) -> None:
        """Take the symbols with rows of their own, and count rows for the rare ones."""
        model, n = self.model, len(symbols.frequent)
        key, rows = model.attrs["key"], model.attrs["rows"]
        if n >= rows:
            raise ValueError(
                f"'rows' gives the table for {key} {rows:,} rows, but {n:,} symbols "
                "are frequent enough for one of their own, and one more is needed for "
                f"all others. Set 'min_freq' higher, or the rows for {key} to "
                f"{n + 1:,} or more."
            )
        nV = n + self._count_hashed_rows(symbols, rows - n)
        set_symbols(model, symbols.frequent, "nV", nV)
        model.set_dim("nV", nV, force=True)

    def _count_hashed_rows(self, symbols: Symbols, most: int) -> int:
        key, rare = self.model.attrs["key"], symbols.rare
        if rare is None:
            raise ValueError(
                f"The table for {key} needs the rare symbols of the corpus too, but "
                "the file in 'tables' holds only frequent ones. Make it anew with "
                "`spacy hashembeds tables`."
            )
        if len(rare) == 0:
            if len(symbols.frequent) > 0:
                warnings.warn(
                    f"Each {key} of the corpus has a row of its own, so that the row "
                    "for all others is never trained, and unknown words get what it "
                    "was initialised with. Set 'min_freq' higher.",
                    stacklevel=2,
                )
            return 1
        hashes = murmur.hash_keys(
            NUMPY_OPS, rare, seed=self.seed, num_hashes=self.num_hashes
        )
        return count_reached_rows(hashes, most)

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, of which some have no row but the first."""
        if is_used_by(self.model.ops):
            return super().embed(keys, is_train)
        model = self.model
        rows, _ = self.find_rows(keys)
        first, more = rows[:, :1], rows[:, 1:]
        hashed = np.flatnonzero((more < self.n_rows).any(axis=1))
        more = more[hashed]
        E = get_table(model)
        summed = E[first[:, 0]]
        for rows_of_hash in more.T:
            summed[hashed] += E[rows_of_hash]
        output, backprop_dropout = apply_dropout(model, summed, is_train)

        def backprop(d_output: OutT) -> Ints1d:
            d_sums: Any = backprop_dropout(d_output)
            inc_table_grad(model, "E", first, d_sums)
            inc_table_grad(model, "E", more, d_sums[hashed])
            return model.ops.alloc1i(len(rows))

        return output, backprop

    def get_table(self) -> Array:
        """Get the table, and after it a row of zeros for none: `(nV + 1, nO)`.

        It is a lot faster to compute with all rows at once if each symbol has as many.
        """
        return self.model.ops.xp.pad(get_table(self.model), ((0, 1), (0, 0)))

    def count_folded_rows(self) -> int:
        """Count the rows of this table."""
        return self.n_rows + 1

    @property
    def n_rows(self) -> int:
        """Rows of the table: the most that it may have where there are no symbols."""
        return self.model.maybe_get_dim("nV") or self.model.attrs["rows"]

    @property
    def own_rows(self) -> int:
        """Rows that belong to a symbol each."""
        return 0 if self.symbols is None else len(self.symbols)

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of its two parts."""
        own = self.own_rows * self.width
        return {"own": own, "hashed": self.n_rows * self.width - own}

    def are_hashed(self, keys: NDArray) -> NDArray:
        """Tell which keys have no row of their own. *Shape:* `(n,)`, bool."""
        return self.find_code(keys)[:, 0] >= self.own_rows


def HybridEmbed(
    nO: int,
    rows: int,
    *,
    key: str,
    num_hashes: int = 2,
    seed: int,
    column: int | None = None,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map frequent symbols to a row each, and hash all others to the remaining rows.

    All others have the sum of one to four of these. Symbols are given before the layer
    is initialised (see `symboltaker.py`): there is a row for each frequent one, and as
    many more as `rows`, the most that there may be, leaves room for and rare ones
    reach, so that each row is trained.

    key (str): What the symbols are, e.g. "NORM".
    num_hashes (int): How many rows to sum for a symbol that is not frequent, 1 to 4.
        Row k of x is `n + murmur(x, seed)[k] % h` for n frequent symbols and h more
        rows.

    Shapes and other arguments are those of `HashEmbed`.

    Source: Miranda et al., "Multi hash embeddings in spaCy", §3, equations 1 and 2, one
    for each kind of symbol.
    """
    return TableEmbed(
        "hybridembed",
        HybridColumn,
        dims={"nO": nO, "nV": None},
        attrs={
            "key": key,
            "symbols": None,
            "rows": rows,
            "seed": seed,
            "num_hashes": num_hashes,
            "gpu_symbols": GpuCopy(),
        },
        initializer=uniform_init,
        column=column,
        dropout=dropout,
    )
