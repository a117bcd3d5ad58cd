from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops, uniform_init
from thinc.types import Floats2d, Ints1d

from ..hashing import murmur
from ..kernels.cuda import is_used_by
from ..kernels.rows import Finder, Hashing, Lookup, Table, Weights
from ..kernels.sums import NUMPY_OPS
from .checks import (
    REMEDY,
    check_attr_choice,
    check_foreign,
    check_integer,
    check_params,
)
from .combination import COMBINE, Combination
from .mixing.column import Array, Backprop, Weighed
from .mixing.gputables import GpuCopy
from .params import peek
from .symboltaker import Symbols, check_symbols, get_symbols, look_up, set_symbols
from .table import apply_dropout, get_table, inc_table_grad
from .tableembed import HashedColumn, InT, OutT, TableEmbed

# How far weights begin from where they are told to: a standard deviation.
_SPREAD = 0.0005

#: The most components of a key.
MAX_COMPONENTS = 100


class WeightedColumn(HashedColumn):
    """Column of keys that have `num_hashes` component vectors each, and their weights.

    Component vectors are rows of `E`, chosen by hashing. Weights are a row of `P`,
    chosen by hashing too, or that of a symbol. With `same_hash` the number of this row
    chooses the component vectors.
    """

    kind = "weighted"
    has_weights = True
    seed_name = "hash_seed"  # not that which layers without weights save

    def check_weights(self) -> None:
        """Check weights and attributes, which may come from a file."""
        model = self.model
        check_foreign(model, "weighs what it hashes", "seed")
        check_integer(model, "hash_seed", 0, 2**32 - 1)
        check_integer(model, "num_hashes", 1, MAX_COMPONENTS)
        check_attr_choice(model, "combine", COMBINE)
        check_attr_choice(model, "same_hash", (False, True))
        check_attr_choice(model, "append_weights", (False, True))
        # attributes that vectors of another width are saved with
        combination, nO = self.combination, self.width
        width = combination.measure_width(self.row_width)
        if width != nO:
            shown = ", ".join(f"'{n}' {v}" for n, v in combination._asdict().items())
            raise ValueError(
                f"The attributes of layer '{model.name}' ({shown}) should make vectors "
                f"of width {nO}, but make some of {width}. {REMEDY}"
            )
        if self.has_symbols:
            check_foreign(model, "has weights for symbols", "hashes_weights")
            check_symbols(model, n_rows=model.maybe_get_dim("nK"))
        else:
            check_foreign(model, "hashes its weights", "symbols")
        check_params(model, {name: self._get_shape(name) for name in ("E", "P")})

    def initialize(self, initializer: Any) -> None:
        """Set the tables, whose weights begin at a number."""
        model = self.model
        if self.has_symbols:
            model.set_dim("nK", len(get_symbols(model)) + 1)
        model.set_param("E", uniform_init(model.ops, self._get_shape("E")))
        P: Any = np.random.normal(initializer, _SPREAD, self._get_shape("P"))
        model.set_param("P", model.ops.asarray2f(P.astype("float32")))

    def take_symbols(self, symbols: Symbols) -> None:
        """Take the symbols that have weights."""
        set_symbols(self.model, symbols.frequent, "nK", len(symbols.frequent) + 1)

    def _get_shape(self, name: str) -> tuple[int, int]:
        if name == "E":
            return self.n_rows, self.row_width
        return self.model.get_dim("nK"), self.num_hashes

    @property
    def combination(self) -> Combination:
        """Way in which components and weights are put together."""
        attrs = self.model.attrs
        return Combination(self.num_hashes, attrs["combine"], attrs["append_weights"])

    @property
    def has_symbols(self) -> bool:
        """Tell whether symbols have the weights. By what no loaded file changes."""
        return "symbol_taker" in self.model.attrs

    def get_finder(self) -> Hashing | None:
        """Say how components are found, if kernels can add them up."""
        self.check()
        if not self.combination.is_sum or self.num_hashes > murmur.MAX_HASHES:
            return None
        return Hashing(seed=self.seed, num_hashes=self.num_hashes)

    def find_pairs(self, ops: Ops, keys: Array) -> tuple[Array, Array]:
        """Find each key's components, `(n, num_hashes)`, and row of weights, `(n, 1)`.

        By attributes that are checked.
        """
        attrs, seed, num_hashes = self.model.attrs, self.seed, self.num_hashes
        if self.has_symbols:
            hashes = murmur.hash_keys(ops, keys, seed=seed, num_hashes=num_hashes)
            symbols = attrs["gpu_symbols"].get(ops, get_symbols(self.model))
            weight_rows = look_up(ops, keys, symbols, unk=0)
        else:
            # one hash more than there are components: independent of theirs
            hashes = murmur.hash_keys(ops, keys, seed=seed, num_hashes=num_hashes + 1)
            weight_rows = hashes[:, num_hashes:] % self.model.get_dim("nK")
            hashes = hashes[:, :num_hashes]
        if attrs["same_hash"]:
            keys = weight_rows[:, 0]
            hashes = murmur.hash_keys(ops, keys, seed=seed, num_hashes=num_hashes)
        return hashes % self.n_rows, weight_rows

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed keys, of any integer dtype, each on its own."""
        model, combination = self.model, self.combination
        if is_used_by(model.ops) and self.get_finder() is not None:
            return super().embed(keys, is_train)
        self.check()
        rows, weight_rows = self.find_pairs(model.ops, keys)
        E = get_table(model)
        weights = peek(model, "P")[weight_rows[:, 0]]
        # those of each hash apart: sums over long rows are fast
        components = [E[rows_of_hash] for rows_of_hash in rows.T]
        xp = model.ops.xp
        vectors = combination.make_vectors(components, weights, xp)
        output, backprop_dropout = apply_dropout(model, vectors, is_train)

        def backprop(d_output: OutT) -> Ints1d:
            d_output = backprop_dropout(d_output)
            d_parts, d_weights = combination.split_gradient(
                d_output, self.row_width, xp
            )
            for k, component in enumerate(components):
                d_weights[:, k] += (component * d_parts[k]).sum(axis=1)
                d_component = d_parts[k] * weights[:, k : k + 1]
                inc_table_grad(model, "E", rows[:, k : k + 1], d_component)
            inc_table_grad(model, "P", weight_rows, d_weights)
            return model.ops.alloc1i(len(keys))

        return output, backprop

    def get_table(self) -> Array:
        """Make the table whose rows are summed. *Shape:* `(rows, nO)`, float32."""
        return self.combination.make_table(get_table(self.model))

    def count_folded_rows(self) -> int:
        """Count the rows of this table."""
        return self.combination.count_rows(self.n_rows)

    def find_rows(self, keys: Array) -> tuple[Array, Array]:
        """Find the rows of this table that vectors are made of, and their weights."""
        self.check()
        rows, weight_rows = self.find_pairs(self.model.ops, keys)
        weights = peek(self.model, "P").take(weight_rows[:, 0], axis=0)
        return self.combination.find_rows(rows, weights, self.n_rows)

    def get_weights(self) -> Weights:
        """Say how kernels find the weights on the CPU."""
        attrs, num_hashes = self.model.attrs, self.num_hashes
        if self.has_symbols:
            finder: Finder = Lookup(attrs["symbols"], unk=0)
        else:
            # the hash after those of the components, of which the last is taken
            seed = murmur.get_seed(self.seed, num_hashes // murmur.MAX_HASHES)
            finder = Hashing(seed, num_hashes=num_hashes % murmur.MAX_HASHES + 1)
        return Weights(Table(peek(self.model, "P"), finder), attrs["same_hash"])

    def weigh_keys(self, keys: Array) -> Weighed:
        """Weigh the rows of keys on a GPU."""
        model = self.model
        self.check()
        _, weight_rows = self.find_pairs(model.ops, keys)
        P = peek(model, "P")

        def backprop(d_weights: Floats2d) -> None:
            inc_table_grad(model, "P", weight_rows, d_weights)

        if model.attrs["same_hash"]:
            keys = weight_rows[:, 0]
        return Weighed(keys, P[weight_rows[:, 0]], backprop)

    @property
    def row_width(self) -> int:
        """Width of a component vector."""
        return self.model.get_dim("nE")

    @property
    def weight_rows(self) -> int:
        """Rows of weights, the paper's K: one where there are no symbols yet."""
        if not self.has_symbols:
            return self.model.get_dim("nK")
        return 1 if self.symbols is None else len(self.symbols) + 1

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of its two parts, B·d and K·k in the paper's letters."""
        return {
            "components": self.n_rows * self.row_width,
            "weights": self.weight_rows * self.num_hashes,
        }

    def find_code(self, keys: NDArray) -> NDArray:
        """Find the component vectors of keys, and their rows of weights, the last."""
        return np.hstack(self.find_pairs(NUMPY_OPS, keys)).astype("uint64")

    def identify(self, keys: NDArray) -> NDArray:
        """Give the code: weights know an order of rows."""
        return self.find_code(keys)

    def are_unknown(self, keys: NDArray) -> NDArray:
        """Tell which keys have the weights of no symbol. *Shape:* `(n,)`, bool."""
        return self.find_code(keys)[:, -1] == 0


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

    A key has `num_hashes` component vectors, which it shares with others: rows of the
    table `E`, chosen by hashing. And it has as many weights, its importance parameters:
    a row of the table `P`, chosen by another hash, or by a dictionary of symbols.

    nE, nV (int): The width and the number of the component vectors, the paper's B.
    nK (int, optional): The number of rows of weights, the paper's K, chosen by hashing.
        If None, each symbol has a row, and all other keys share one: see
        `symboltaker.py`.
    key (str, optional): What the symbols are, e.g. "NORM".
    initial_weight (float): What the weights begin at, but for normal numbers of
        deviation 0.0005 that are added.
    column, dropout: See `TableEmbed`. All others: see `MultiWeightedHashEmbed`.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32, where `nO` is `nE` for a sum, and `num_hashes`
        times `nE` side by side, and `num_hashes` more with appended weights.

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §3 and, for "concat" and the independent hash, §6.
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
        attrs.update(key=key, symbols=None, gpu_symbols=GpuCopy())
    combination = Combination(num_hashes, combine, append_weights)
    return TableEmbed(
        "weightedhashembed",
        WeightedColumn,
        params="EP",
        dims={"nO": combination.measure_width(nE), "nE": nE, "nV": nV, "nK": nK},
        attrs=attrs,
        initializer=initial_weight,
        column=column,
        dropout=dropout,
    )
