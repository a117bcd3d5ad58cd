from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops, uniform_init
from thinc.types import Floats2d, Ints1d

from ...hashing import murmur
from ...hashing.collisions import expected_sharing_codes
from ...kernels.rows import (
    NUMPY_OPS,
    Finder,
    Hashing,
    Lookup,
    Table,
    Weights,
    is_on_gpu,
)
from ...layers import checks
from ...layers.checks import peek
from ...layers.column import Array, Backprop
from ...layers.gpuembed import GpuCopy
from ...layers.tableembed import HashColumn, InT, OutT, TableEmbed
from ...layers.tables import apply_dropout, inc_table_grad
from ...layers.vocabulary import (
    Symbols,
    check_symbols,
    get_symbols,
    look_up,
    set_symbols,
)

# Standard deviation of initial weights.
_SPREAD = 0.0005
#: Maximum number of components per key.
MAX_COMPONENTS = 100
#: Ways to combine weighted components.
COMBINE = ("sum", "concat")


def WeightedHashEmbed(
    nE: int,
    nV: int,
    *,
    nK: int | None,
    num_hashes: int = 2,
    seed: int,
    key: str | None = None,
    same_hash: bool = False,
    combine: str = "sum",
    append_weights: bool = False,
    column: int | None = None,
    initial_weight: float = 0.0,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map integers to the weighted sum of rows of a table, with learned weights.

    A key has `num_hashes` component vectors, rows of the table `E` shared with other
    keys, and as many weights, a row of the table `P`.

    nE, nV (int): Width and number of component vectors (the paper's B).
    nK (int, optional): Rows of weights, the paper's K, chosen by hashing. If None, each
        symbol has a row, and all other keys share one.
    key: See `SymbolEmbed`. column, dropout: See `TableEmbed`. Others: See
        `MultiWeightedHashEmbed`.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32.

    Source: Svenstrup et al., "Hash Embeddings" (2017), §3 and §6.
    """
    attrs: dict[str, Any] = {
        # not "seed", which layers without weights save: see `check_weights`
        "hash_seed": seed,
        "num_hashes": num_hashes,
        "same_hash": same_hash,
        "combine": combine,
        "append_weights": append_weights,
    }
    if nK is not None:
        attrs["hashes_weights"] = True
    else:
        attrs |= {"key": key, "symbol_setter": WeightedColumn}
        attrs |= {"symbols": None, "gpu_symbols": GpuCopy()}
    nO = (nE if combine == "sum" else nE * num_hashes) + num_hashes * append_weights
    return TableEmbed(
        "weightedhashembed",
        WeightedColumn,
        params="EP",
        dims={"nO": nO, "nE": nE, "nV": nV, "nK": nK},
        attrs=attrs,
        initializer=initial_weight,
        column=column,
        dropout=dropout,
    )


class WeightedColumn(HashColumn):
    """Column of keys with component vectors, rows of `E`, and weights, a row of `P`."""

    kind = "weighted"
    has_weights = True
    seed_name = "hash_seed"  # unlike in layers without weights

    def __init__(self, model: Model, attr: str = "") -> None:
        super().__init__(model, attr)
        #: True if weighted components are summed, not concatenated.
        self.is_sum = model.attrs["combine"] == "sum"
        #: True if symbols have weights. Loading does not change this attribute.
        self.has_symbols = "symbol_setter" in model.attrs
        self.has_rows = self.is_sum and not model.attrs["append_weights"]
        self.is_cached = not self.has_rows

    def check_weights(self) -> None:
        """Check weights and attributes, which may be loaded."""
        model, num_hashes = self.model, self.num_hashes
        checks.check_foreign(model, "has importance weights", "seed")
        checks.check_integer(model, "hash_seed", 0, 2**32 - 1)
        checks.check_integer(model, "num_hashes", 1, MAX_COMPONENTS)
        checks.check_attr_choice(model, "combine", COMBINE)
        checks.check_attr_choice(model, "same_hash", (False, True))
        checks.check_attr_choice(model, "append_weights", (False, True))
        width = self.row_width * (1 if self.is_sum else num_hashes)
        width += num_hashes * model.attrs["append_weights"]
        expected = f"such that vectors are {self.width} wide"
        checks.check_attr(model, "combine", width == self.width, expected)
        if self.has_symbols:
            checks.check_foreign(model, "has weights for symbols", "hashes_weights")
            check_symbols(model, n_rows=model.maybe_get_dim("nK"))
        else:
            checks.check_foreign(model, "hashes its weights", "symbols")
        checks.check_params(model, self._get_shapes())

    def initialize(self, initializer: Any) -> None:
        """Initialize both tables. `initializer` is the mean initial weight."""
        model = self.model
        if self.has_symbols:
            model.set_dim("nK", len(get_symbols(model)) + 1)
        shapes = self._get_shapes()
        model.set_param("E", uniform_init(model.ops, shapes["E"]))
        P: Any = np.random.normal(initializer, _SPREAD, shapes["P"])
        model.set_param("P", model.ops.asarray2f(P.astype("float32")))

    def assign_symbols(self, symbols: Symbols) -> None:
        """Set the symbols that have weights."""
        set_symbols(self.model, symbols.frequent, "nK")

    def _get_shapes(self) -> dict[str, tuple[int, int]]:
        nK = self.model.get_dim("nK")
        return {"E": (self.n_rows, self.row_width), "P": (nK, self.num_hashes)}

    def get_finder(self) -> Hashing | None:
        """Return the finder of components, or None if kernels don't support them."""
        self.check()
        if not self.has_rows or self.num_hashes > murmur.MAX_HASHES:
            return None
        return Hashing(seed=self.seed, num_hashes=self.num_hashes)

    def find_pairs(self, ops: Ops, keys: Array) -> tuple[Array, Array]:
        """Find components of keys, `(n, num_hashes)`, and rows of weights, `(n, 1)`."""
        attrs, seed, num_hashes = self.model.attrs, self.seed, self.num_hashes
        # the last hash chooses the row of weights
        hashes = murmur.hash_keys(ops, keys, seed=seed, num_hashes=num_hashes + 1)
        if self.has_symbols:
            symbols = attrs["gpu_symbols"].get(ops, get_symbols(self.model))
            weight_rows = look_up(ops, keys, symbols, unk=0)
        else:
            weight_rows = hashes[:, num_hashes:] % self.model.get_dim("nK")
        if attrs["same_hash"]:
            keys = weight_rows[:, 0]
            hashes = murmur.hash_keys(ops, keys, seed=seed, num_hashes=num_hashes)
        return hashes[:, :num_hashes] % self.n_rows, weight_rows

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys of any integer dtype, independently of each other."""
        model, xp, k = self.model, self.model.ops.xp, self.num_hashes
        if is_on_gpu(model.ops) and self.get_finder() is not None:
            return super().embed(keys, is_train)
        self.check()
        rows, weight_rows = self.find_pairs(model.ops, keys)
        components: Any = peek(model, "E")[rows]  # (n, num_hashes, nE)
        weights: Any = peek(model, "P")[weight_rows[:, 0]]
        appends_weights = model.attrs["append_weights"]
        if self.is_sum:
            Y = xp.einsum("nke,nk->ne", components, weights)
        else:
            Y = (components * weights[:, :, None]).reshape(len(keys), -1)
        if appends_weights:
            Y = xp.hstack([Y, weights])
        Y, backprop_dropout = apply_dropout(model, Y, is_train)

        def backprop(dY: OutT) -> Ints1d:
            d_parts: Any = backprop_dropout(dY)
            d_weights = xp.zeros_like(weights)
            if appends_weights:
                d_parts, d_weights = d_parts[:, :-k], d_parts[:, -k:]
            nE = self.row_width
            d_parts = d_parts.reshape(len(keys), 1 if self.is_sum else k, nE)
            d_weights = d_weights + (components * d_parts).sum(axis=2)
            d_components = (weights[:, :, None] * d_parts).reshape(-1, nE)
            inc_table_grad(model, "E", rows.reshape(-1, 1), d_components)
            inc_table_grad(model, "P", weight_rows, d_weights)
            return model.ops.alloc1i(len(keys))

        return Y, backprop

    def find_rows(self, keys: Array) -> tuple[Array, Array]:
        """Find the rows of keys and their weights, *shapes* `(n, num_hashes)`."""
        self.check()
        rows, weight_rows = self.find_pairs(self.model.ops, keys)
        weights = peek(self.model, "P").take(weight_rows[:, 0], axis=0)
        return rows.astype("uint32", copy=False), weights

    def get_weights(self) -> Weights:
        """Return the weights for kernels on the CPU."""
        attrs, num_hashes = self.model.attrs, self.num_hashes
        if self.has_symbols:
            finder: Finder = Lookup(attrs["symbols"], unk=0)
        else:
            # the finder's last hash follows the hashes of components
            seed = murmur.get_seed(self.seed, num_hashes // murmur.MAX_HASHES)
            finder = Hashing(seed, num_hashes=num_hashes % murmur.MAX_HASHES + 1)
        return Weights(Table(peek(self.model, "P"), finder), attrs["same_hash"])

    def weigh_keys(self, keys: Array) -> tuple[Array, Array, Backprop]:
        """Find the weights of rows on a GPU: see `Column.weigh_keys`."""
        model = self.model
        self.check()
        _, weight_rows = self.find_pairs(model.ops, keys)

        def backprop(d_weights: Floats2d) -> None:
            inc_table_grad(model, "P", weight_rows, d_weights)

        numbers = weight_rows[:, 0]
        rehashed = numbers if model.attrs["same_hash"] else keys
        return rehashed, peek(model, "P")[numbers], backprop

    @property
    def row_width(self) -> int:
        """Width of a component vector."""
        return self.model.get_dim("nE")

    @property
    def weight_rows(self) -> int:
        """Number of rows of weights, the paper's K; 1 while symbols are not set."""
        if not self.has_symbols:
            return self.model.get_dim("nK")
        return 1 if self.symbols is None else len(self.symbols) + 1

    @property
    def parts(self) -> dict[str, int]:
        """Number of parameters of both tables: B·d and K·k in the paper."""
        return {
            "components": self.n_rows * self.row_width,
            "weights": self.weight_rows * self.num_hashes,
        }

    def find_code(self, keys: NDArray) -> NDArray:
        """Find the rows of component vectors and, in the last column, of weights."""
        return np.hstack(self.find_pairs(NUMPY_OPS, keys)).astype("uint64")

    def find_hashed(self, keys: NDArray) -> NDArray:
        """Find the rows of component vectors."""
        return self.find_code(keys)[:, :-1]

    def identify(self, keys: NDArray) -> NDArray:
        """Return the unsorted code: weights depend on the order of rows."""
        return self.find_code(keys)

    def split_code(self, keys: NDArray) -> dict[str, NDArray]:
        """Return the sorted rows of component vectors, and the rows of weights."""
        components = np.sort(self.find_hashed(keys), axis=1)
        return {"components": components, "weights": self.find_code(keys)[:, -1:]}

    def expect(self, keys: NDArray) -> dict[str, float]:
        """Return the expected number of keys that share weights and components."""
        n = len(keys)
        codes = 1 if self.model.attrs["same_hash"] else self.n_rows**self.num_hashes
        if (unknown := self.is_unknown(keys)) is not None:
            n = int(unknown.sum())  # symbols have unique weights
        else:
            codes *= self.weight_rows
        return {"sharing_code": expected_sharing_codes(n, codes)}

    def is_unknown(self, keys: NDArray) -> NDArray | None:
        """Return which keys are unknown, or None without symbols."""
        return self.find_code(keys)[:, -1] == 0 if self.has_symbols else None
