from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops, uniform_init

from ..kernels.rows import Lookup
from .checks import check_attr, check_foreign, check_integer, check_number
from .column import Array
from .gpuembed import GpuCopy
from .tableembed import InT, OutT, TableColumn, TableEmbed
from .tables import check_table
from .vocabulary import (
    Symbols,
    check_symbols,
    find_symbols,
    get_symbols,
    look_up,
    set_symbols,
)

#: Key of unknown symbols. No known text has this hash.
_UNKNOWN = np.uint64(2**64 - 1)


class LookupColumn(TableColumn):
    """Column of keys with a row per known symbol, and one row for unknown symbols."""

    kind = "lookup"

    def __init__(self, model: Model, attr: str = "") -> None:
        super().__init__(model, attr)
        self.replaces_keys = model.attrs["counts"] is not None

    def check_weights(self) -> None:
        """Check weights and attributes."""
        model, attrs = self.model, self.model.attrs
        check_foreign(model, "looks symbols up", "seed")
        check_symbols(model, n_rows=model.maybe_get_dim("nV"))
        check_integer(model, "unk", 0, len(attrs["symbols"]))
        check_number(model, "unknown_rate", 0, 1)
        counts = attrs["counts"]
        is_right = counts is None or (
            isinstance(counts, np.ndarray)
            and counts.shape == attrs["symbols"].shape
            and counts.dtype == "uint64"
            and bool(counts.all())
        )
        check_attr(
            model, "counts", is_right, "a count for each symbol, uint64, or null"
        )
        check_table(model)

    def get_finder(self) -> Lookup | None:
        """Return the finder for kernels, or None if a subclass overrides `locate`."""
        if type(self).locate is not LookupColumn.locate:
            return None
        return Lookup(self._get_symbols(self.model.ops), self.model.attrs["unk"])

    def locate(self, ops: Ops, keys: Array) -> Array:
        """Find the row of each key, `(m, 1)`, uint32."""
        return look_up(ops, keys, self._get_symbols(ops), unk=self.model.attrs["unk"])

    def _get_symbols(self, ops: Ops) -> Array:
        return self.model.attrs["gpu_symbols"].get(ops, get_symbols(self.model))

    def initialize(self, initializer: Any) -> None:
        """Initialize the table. Symbols must be set."""
        self.model.set_dim("nV", len(get_symbols(self.model)) + 1)
        super().initialize(initializer)

    def assign_symbols(self, symbols: Symbols) -> None:
        """Set the symbols that have rows, and their counts if `unknown_rate` is set."""
        attrs, n = self.model.attrs, len(symbols.frequent)
        if attrs["unk"] > n:
            raise ValueError(
                f"'unk' is row {attrs['unk']}, but the table for {attrs['key']} has "
                f"only rows 0 to {n}: one for each of {n} symbols and one for unknown "
                "symbols. Set unk = 0."
            )
        set_symbols(self.model, symbols.frequent, "nV")
        attrs["counts"] = None  # counts of earlier symbols are stale
        if attrs["unknown_rate"] and symbols.counts is not None:
            attrs["counts"] = symbols.counts[symbols.frequent.argsort()]

    def replace_keys(self, keys: NDArray) -> NDArray:
        """Replace the symbols of random tokens by the unknown symbol."""
        attrs = self.model.attrs
        rate, counts, symbols = attrs["unknown_rate"], attrs["counts"], attrs["symbols"]
        if not rate or not len(symbols):
            return keys
        found, is_known = find_symbols(keys, symbols)
        is_drawn = np.random.random_sample(len(keys)) < rate / (rate + counts[found])
        return np.where(is_drawn & is_known, _UNKNOWN, keys)

    @property
    def n_rows(self) -> int:
        """Number of rows of the table: 1 before symbols are set."""
        return 1 if self.symbols is None else len(self.symbols) + 1

    def is_unknown(self, keys: NDArray) -> NDArray:
        """True for keys with the row for unknown symbols. *Shape:* `(n,)`, bool."""
        return self.find_code(keys)[:, 0] == self.model.attrs["unk"]


def SymbolEmbed(
    nO: int,
    *,
    key: str,
    unk: int = 0,
    unknown_rate: float = 0.0,
    column: int | None = None,
    initializer: Callable = uniform_init,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map each known integer to its own row, and unknown integers to a shared row.

    The known symbols determine the number of rows, and are set before the layer is
    initialized: see `vocabulary.py`.

    key (str): The attribute of the symbols, e.g. "NORM". It names the table in errors,
        and selects one of the tables of a corpus.
    unk (int): The row of unknown symbols. Known symbols have the other rows, in
        ascending order.
    unknown_rate (float): In training, a symbol that was counted `n` times is replaced
        by the unknown symbol with probability `unknown_rate / (unknown_rate + n)`.

    Shapes and other arguments are those of `HashEmbed`.

    Sources: Miranda et al., "Multi hash embeddings in spaCy", §3, equation 1. For
    `unknown_rate`: Kiperwasser and Goldberg, "Simple and Accurate Dependency Parsing
    Using Bidirectional LSTM Feature Representations" (2016).
    """
    return TableEmbed(
        "symbolembed",
        LookupColumn,
        dims={"nO": nO, "nV": None},
        attrs={
            "key": key,
            "symbol_setter": LookupColumn,
            "unk": unk,
            "unknown_rate": unknown_rate,
            "symbols": None,
            "counts": None,
            "gpu_symbols": GpuCopy(),
        },
        initializer=initializer,
        column=column,
        dropout=dropout,
    )
