from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d, Ints1d, Ints2d
from thinc.util import partial

from ..kernels.cuda import is_used_by
from ..kernels.rows import Lookup
from .checks import check_attr, check_foreign, check_integer, check_number
from .mixing.column import Column, ColumnFunctions
from .mixing.gputables import GpuCopy, embed_ids
from .params import check_once
from .symboltaker import Symbols, check_symbols, find_symbols, get_symbols, set_symbols
from .table import (
    check_table,
    find_rows,
    finish_forward,
    finish_layer,
    get_table,
    init_table,
)

InT = TypeVar("InT", bound=Ints1d | Ints2d)
OutT = Floats2d

#: A key that is no symbol: the hash of no text that anybody has met.
_UNKNOWN = np.uint64(2**64 - 1)


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
    """Map known integers to a row each, and all others to one learned row.

    The known symbols, which decide how many rows there are, are given before the layer
    is initialised: see `symboltaker.py`.

    key (str): What the symbols are, e.g. "NORM": names the table in errors and tells
        which of several tables a layer waits for.
    unk (int): The row that stands for every unknown symbol; symbols take the rows
        around it, in the order of their values.
    unknown_rate (float): In training, the symbol of a token that was counted `n` times
        is looked up as unknown with probability `unknown_rate / (unknown_rate + n)`.

    Shapes and other arguments are those of `HashEmbed`.

    Source: Miranda et al., "Multi hash embeddings in spaCy", §3, equation 1; unknown
    ones in training: Kiperwasser and Goldberg, "Simple and Accurate Dependency Parsing
    Using Bidirectional LSTM Feature Representations" (2016).
    """
    model: Model = Model(
        "symbolembed",
        forward,
        init=partial(init, initializer),
        params={"E": None},
        dims={"nO": nO, "nV": None, "nI": None},
        attrs={
            "column": column,
            "key": key,
            "unk": unk,
            "unknown_rate": unknown_rate,
            "symbols": None,
            "counts": None,
            "gpu_symbols": GpuCopy(),
            "column_functions": _COLUMN,
            "symbol_taker": take_symbols,
        },
    )
    return finish_layer(model, column, dropout)


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    if is_train and model.attrs["counts"] is not None:
        keys: Any = model.ops.to_numpy(ids).astype("uint64")
        keys = replace_by_unknown(model, keys)
        ids = cast(Any, model.ops).asarray(keys)
    return embed(model, ids, is_train)


def embed(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    if is_used_by(model.ops):
        return embed_ids(Column(model, _COLUMN), ids, is_train)
    rows = find_rows(model.ops, get_finder(model), ids, model.get_dim("nV"))
    output = get_table(model)[rows[:, 0]]
    return finish_forward(model, rows, output, is_train)


def init(initializer: Callable, model: Model, X: Any = None, Y: Any = None) -> None:
    model.set_dim("nV", len(get_symbols(model)) + 1)
    init_table(initializer, model)


def take_symbols(model: Model, symbols: Symbols) -> None:
    key, unk = model.attrs["key"], model.attrs["unk"]
    n = len(symbols.frequent)
    if unk > n:
        raise ValueError(
            f"'unk' is row {unk}, but the table for {key} has only rows 0 to "
            f"{n}: one for each of {n} symbols and one for all others. Set unk = 0."
        )
    set_symbols(model, symbols.frequent, "nV", n + 1)
    model.attrs["counts"] = None  # those of earlier symbols are stale
    if model.attrs["unknown_rate"] and symbols.counts is not None:
        model.attrs["counts"] = symbols.counts[symbols.frequent.argsort()]


def replace_by_unknown(model: Model, keys: NDArray) -> NDArray:
    """Replace the symbols of some tokens, each on its own, by a key that is none."""
    if model.attrs["counts"] is None:
        return keys
    check_once(model, check_weights)
    rate, counts = model.attrs["unknown_rate"], model.attrs["counts"]
    symbols = model.attrs["symbols"]
    if not rate or not len(symbols):
        return keys
    found, is_known = find_symbols(keys, symbols)
    is_drawn = np.random.random_sample(len(keys)) < rate / (rate + counts[found])
    return np.where(is_drawn & is_known, _UNKNOWN, keys)


def check_weights(model: Model) -> None:
    check_foreign(model, "looks symbols up", "seed")
    check_symbols(model, n_rows=model.maybe_get_dim("nV"))
    check_integer(model, "unk", 0, len(model.attrs["symbols"]))
    check_number(model, "unknown_rate", 0, 1)
    counts: Any = model.attrs["counts"]
    is_right = counts is None or (
        isinstance(counts, np.ndarray)
        and counts.shape == model.attrs["symbols"].shape
        and counts.dtype == "uint64"
        and bool(counts.all())
    )
    check_attr(model, "counts", is_right, "a count for each symbol, uint64, or null")
    check_table(model)


def get_finder(model: Model) -> Lookup:
    check_once(model, check_weights)
    gpu_symbols = model.attrs["gpu_symbols"].get(model.ops, model.attrs["symbols"])
    return Lookup(symbols=gpu_symbols, unk=model.attrs["unk"])


_COLUMN = ColumnFunctions(
    forward,
    embed=embed,
    check=check_weights,
    replace_keys=replace_by_unknown,
    get_finder=get_finder,
)
