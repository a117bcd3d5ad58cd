from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d, Ints1d, Ints2d
from thinc.util import partial

from ..hashing import murmur
from ..kernels.cuda import is_used_by
from ..kernels.rows import Finder, Hashing, Lookup, Table, Weights
from .checks import REMEDY, check_choice, check_foreign, check_integer, check_params
from .combination import COMBINE, Combination
from .mixing.column import Column, ColumnFunctions, Weighed
from .mixing.gputables import GpuCopy, embed_ids
from .params import check_once, peek
from .symboltaker import Symbols, check_symbols, get_symbols, look_up, set_symbols
from .table import apply_dropout, finish_layer, get_table, inc_table_grad

# How far weights begin from where they are told to: a standard deviation.
_SPREAD = 0.0005

InT = TypeVar("InT", bound=Ints1d | Ints2d)
OutT = Floats2d

#: The most components of a key.
MAX_COMPONENTS = 100


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
    column, dropout: See `finish_layer`. All others: see `MultiWeightedHashEmbed`.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32, where `nO` is `nE` for a sum, and `num_hashes`
        times `nE` side by side, and `num_hashes` more with appended weights.

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §3 and, for "concat" and the independent hash, §6.
    """
    combination = Combination(num_hashes, combine, append_weights)
    model: Model = Model(
        "weightedhashembed",
        forward,
        init=partial(init, initial_weight),
        params={"E": None, "P": None},
        dims={
            "nO": combination.measure_width(nE),
            "nE": nE,
            "nV": nV,
            "nK": nK,
            "nI": None,
        },
        attrs={
            # not "seed", which layers without weights save: see `check_weights`
            "column": column,
            "hash_seed": seed,
            "num_hashes": num_hashes,
            "same_hash": same_hash,
            "combine": combine,
            "append_weights": append_weights,
            "column_functions": _COLUMN,
        },
    )
    if nK is not None:
        model.attrs["hashes_weights"] = True
    else:
        model.attrs.update(key=key, symbols=None, symbol_taker=take_symbols)
        model.attrs["gpu_symbols"] = GpuCopy()
    return finish_layer(model, column, dropout)


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    if is_used_by(model.ops) and get_finder(model) is not None:
        return embed_ids(Column(model, _COLUMN), ids, is_train)
    rows, weight_rows = find_rows(model, ids)
    E: Any = get_table(model)
    weights: Any = peek(model, "P")[weight_rows[:, 0]]
    # those of each hash apart: sums over long rows are fast
    components = [E[rows_of_hash] for rows_of_hash in rows.T]
    combination, xp = _get_combination(model), model.ops.xp
    output = combination.make_vectors(components, weights, xp)
    output, backprop_dropout = apply_dropout(model, output, is_train)

    def backprop(d_output: OutT) -> Ints1d:
        d_output = backprop_dropout(d_output)
        nE = model.get_dim("nE")
        d_parts, d_weights = combination.split_gradient(d_output, nE, xp)
        for k, component in enumerate(components):
            d_weights[:, k] += (component * d_parts[k]).sum(axis=1)
            d_component = d_parts[k] * weights[:, k : k + 1]
            inc_table_grad(model, "E", rows[:, k : k + 1], d_component)
        inc_table_grad(model, "P", weight_rows, d_weights)
        return model.ops.alloc1i(len(ids))

    return output, backprop


def init(initial_weight: float, model: Model, X: Any = None, Y: Any = None) -> None:
    if _has_symbols(model):
        model.set_dim("nK", len(get_symbols(model)) + 1)
    model.set_param("E", uniform_init(model.ops, _get_shape(model, "E")))
    P: Any = np.random.normal(initial_weight, _SPREAD, _get_shape(model, "P"))
    model.set_param("P", model.ops.asarray2f(P.astype("float32")))


def take_symbols(model: Model, symbols: Symbols) -> None:
    set_symbols(model, symbols.frequent, "nK", len(symbols.frequent) + 1)


def check_weights(model: Model) -> None:
    check_foreign(model, "weighs what it hashes", "seed")
    check_integer(model, "hash_seed", 0, 2**32 - 1)
    check_integer(model, "num_hashes", 1, MAX_COMPONENTS)
    check_choice(model, "combine", COMBINE)
    check_choice(model, "same_hash", (False, True))
    check_choice(model, "append_weights", (False, True))
    # attributes that vectors of another width are saved with
    combination = _get_combination(model)
    nO, width = model.get_dim("nO"), combination.measure_width(model.get_dim("nE"))
    if width != nO:
        shown = ", ".join(f"'{n}' {v}" for n, v in combination._asdict().items())
        raise ValueError(
            f"The attributes of layer '{model.name}' ({shown}) should make vectors of "
            f"width {nO}, but make some of {width}. {REMEDY}"
        )
    if _has_symbols(model):
        check_foreign(model, "has weights for symbols", "hashes_weights")
        check_symbols(model, n_rows=model.maybe_get_dim("nK"))
    else:
        check_foreign(model, "hashes its weights", "symbols")
    check_params(model, {name: _get_shape(model, name) for name in ("E", "P")})


def _get_combination(model: Model) -> Combination:
    attrs = model.attrs
    return Combination(attrs["num_hashes"], attrs["combine"], attrs["append_weights"])


def _has_symbols(model: Model) -> bool:
    """Tell whether symbols have the weights. By what no file that is loaded changes."""
    return "symbol_taker" in model.attrs


def _get_shape(model: Model, name: str) -> tuple[int, int]:
    if name == "E":
        return model.get_dim("nV"), model.get_dim("nE")
    return model.get_dim("nK"), model.attrs["num_hashes"]


def find_rows(model: Model, ids: Ints1d) -> tuple[Ints2d, Ints2d]:
    """Find each key's components, `(n, num_hashes)`, and row of weights, `(n, 1)`."""
    check_once(model, check_weights)
    ops, attrs = model.ops, model.attrs
    num_hashes, seed = attrs["num_hashes"], attrs["hash_seed"]
    if _has_symbols(model):
        hashes = murmur.hash_keys(ops, ids, seed=seed, num_hashes=num_hashes)
        symbols = attrs["gpu_symbols"].get(ops, attrs["symbols"])
        weight_rows = look_up(ops, ids, symbols, unk=0)
    else:
        # one hash more than there are components: independent of theirs
        hashes = murmur.hash_keys(ops, ids, seed=seed, num_hashes=num_hashes + 1)
        weight_rows = hashes[:, num_hashes:] % model.get_dim("nK")
        hashes = hashes[:, :num_hashes]
    if attrs["same_hash"]:
        keys = weight_rows[:, 0]
        hashes = murmur.hash_keys(ops, keys, seed=seed, num_hashes=num_hashes)
    return hashes % model.get_dim("nV"), weight_rows


def get_finder(model: Model) -> Hashing | None:
    check_once(model, check_weights)
    attrs, num_hashes = model.attrs, model.attrs["num_hashes"]
    if not _get_combination(model).is_sum or num_hashes > murmur.MAX_HASHES:
        return None
    return Hashing(seed=attrs["hash_seed"], num_hashes=num_hashes)


def get_weights(model: Model) -> Weights:
    attrs, num_hashes = model.attrs, model.attrs["num_hashes"]
    if _has_symbols(model):
        finder: Finder = Lookup(attrs["symbols"], unk=0)
    else:
        # the hash after those of the components, of which the last is taken
        n_before = num_hashes // murmur.MAX_HASHES
        seed = murmur.get_seed(attrs["hash_seed"], n_before)
        finder = Hashing(seed, num_hashes=num_hashes % murmur.MAX_HASHES + 1)
    return Weights(Table(peek(model, "P"), finder), attrs["same_hash"])


def weigh_keys(model: Model, ids: Ints1d) -> Weighed:
    _, weight_rows = cast(Any, find_rows(model, ids))
    P: Any = peek(model, "P")

    def backprop(d_weights: Floats2d) -> None:
        inc_table_grad(model, "P", weight_rows, d_weights)

    keys = weight_rows[:, 0] if model.attrs["same_hash"] else ids
    return Weighed(keys, P[weight_rows[:, 0]], backprop)


def find_weighted_rows(model: Model, ids: Ints1d) -> tuple[Ints2d, Floats2d]:
    """Find the rows of `make_table` that vectors are made of, and their weights."""
    rows, weight_rows = cast(Any, find_rows(model, ids))
    weights = peek(model, "P").take(weight_rows[:, 0], axis=0)
    combination, nV = _get_combination(model), model.get_dim("nV")
    return combination.find_rows(rows, weights, nV)


def count_table_rows(model: Model) -> int:
    return _get_combination(model).count_rows(model.get_dim("nV"))


def make_table(model: Model) -> Floats2d:
    """Make the table whose rows are summed. *Shape:* `(rows, nO)`, float32."""
    return cast(Floats2d, _get_combination(model).make_table(get_table(model)))


_COLUMN = ColumnFunctions(
    forward,
    check=check_weights,
    get_table=make_table,
    count_rows=count_table_rows,
    find_weighted_rows=find_weighted_rows,
    get_finder=get_finder,
    get_weights=get_weights,
    weigh_keys=weigh_keys,
)
