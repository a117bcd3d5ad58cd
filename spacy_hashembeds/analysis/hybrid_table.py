"""Embedding tables with rows of their own for symbols, and hashed ones for the rest."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.sums import NUMPY_OPS
from ..layers.hybridembed import HybridEmbed
from ..layers.symboltaker import Symbols, give_symbols, look_up
from .codes import find_code


@dataclass(frozen=True, kw_only=True)
class HybridTable:
    """A table with a row for each frequent symbol, and hashed rows for all others.

    attr (str): The attribute that it embeds.
    rows (int): Its rows; the most that it may have, as long as it has no symbols.
    width (int): Its width.
    num_hashes (int): How many rows each value gets that is not frequent.
    seed (int): Of the hash function.
    symbols (NDArray, optional): The frequent symbols in ascending order, None if the
        table has not got them yet. *Shape:* `(n,)`, uint64.
    """

    kind: ClassVar = "hybrid"

    attr: str
    rows: int
    width: int
    num_hashes: int
    seed: int
    symbols: NDArray | None = None

    @property
    def own_rows(self) -> int:
        """Rows that belong to a symbol each."""
        return 0 if self.symbols is None else len(self.symbols)

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of its two parts."""
        n_own = self.own_rows
        return {"own": n_own * self.width, "hashed": (self.rows - n_own) * self.width}

    @property
    def needs_symbols(self) -> bool:
        """Whether it has not got its symbols yet."""
        return self.symbols is None

    def find_own(self, values: NDArray) -> NDArray:
        """Find the rows that belong to values, and `own_rows` where none does.

        RETURNS (NDArray): *Shape:* `(n,)`, uint64.
        """
        known = np.zeros(0, "uint64") if self.symbols is None else self.symbols
        rows = look_up(NUMPY_OPS, values, known, unk=self.own_rows)
        found: NDArray = rows[:, 0].astype("uint64")
        return found

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values, and of those with a row of their own no others.

        RETURNS (NDArray): *Shape:* `(n, num_hashes)`, uint64. `rows` stands for none.
        """
        code = find_code(
            values,
            rows=self.rows - self.own_rows,
            num_hashes=self.num_hashes,
            seed=self.seed,
        )
        code += np.uint64(self.own_rows)
        own = self.find_own(values)
        has_own = own < self.own_rows
        code[has_own] = self.rows
        code[has_own, 0] = own[has_own]
        return code

    def identify(self, values: NDArray) -> NDArray:
        """Give numbers that are equal where vectors are: sums know no order of rows.

        RETURNS (NDArray): *Shape:* `(n, num_hashes)`, uint64.
        """
        return np.sort(self.find_code(values), axis=1)

    def with_symbols(self, symbols: Symbols) -> "HybridTable":
        """Give the table that the layer will have with symbols.

        RAISES (ValueError): If the layer refuses them.
        """
        layer: Model = HybridEmbed(
            self.width,
            self.rows,
            key=self.attr,
            num_hashes=self.num_hashes,
            seed=self.seed,
        )
        give_symbols(layer, symbols)
        return replace(self, rows=layer.get_dim("nV"), symbols=layer.attrs["symbols"])
