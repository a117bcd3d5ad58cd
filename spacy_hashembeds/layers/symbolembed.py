from collections.abc import Callable
from typing import TypeVar

import numpy
from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d, Ints1d, Ints2d
from thinc.util import partial

from ..kernels.cuda import is_used_by
from ..kernels.rows import Lookup
from .checks import check_foreign, check_integer
from .gputables import GpuCopy, GpuTable, embed_ids
from .mixing.column import ColumnFunctions
from .params import check_once
from .symboltaker import (
    Symbols,
    SymbolTaker,
    check_symbols,
    get_symbols,
    look_up,
    sort_symbols,
)
from .table import check_table, finish_forward, finish_layer, get_table, init_table

InT = TypeVar("InT", bound=Ints1d | Ints2d)
OutT = Floats2d


def SymbolEmbed(
    nO: int,
    *,
    key: str,
    unk: int = 0,
    column: int | None = None,
    initializer: Callable = uniform_init,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map known integers to a row each, and all others to one learned row.

    The known symbols are set with `set_symbols`, before the layer is initialised,
    since they decide how many rows there are: one more than symbols. They are kept
    in the attribute "symbols" as a sorted array, which is all that a lookup needs
    (a binary search, vectorised) and is saved with the weights.

    nO (int): The width of the table and of the output.
    key (str): What the symbols are, e.g. "NORM": names the table in errors and
        tells which of several tables a layer waits for.
    unk (int): The row that stands for every unknown symbol; symbols take the rows
        around it, in the order of their values.
    column (int, optional): Embed this column of a two-dimensional input.
    initializer (Callable): Fills the table; by default uniform in ±0.1.
    dropout (float, optional): If given, whole output dimensions are dropped for
        all symbols of a batch together. spaCy's trainer sets the rate itself.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32.

    Source: Miranda et al., "Multi hash embeddings in spaCy", §3, equation 1.
    """
    model: Model = Model(
        "symbolembed",
        forward,
        init=partial(init, initializer),
        params={"E": None},
        dims={"nO": nO, "nV": None, "nI": None},
        attrs={
            **{"column": column, "key": key, "unk": unk, "symbols": None},
            "gpu_symbols": GpuCopy(),
            "column_functions": _COLUMN,
            "symbol_taker": SymbolTaker(take_symbols),
        },
    )
    return finish_layer(model, column, dropout)


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    if is_used_by(model.ops):
        return embed_ids(GpuTable(model, get_finder(model)), ids, is_train)
    rows = find_rows(model, ids)
    output = get_table(model)[rows[:, 0]]
    return finish_forward(model, rows, output, is_train)


def init(
    initializer: Callable,
    model: Model[Ints1d, OutT],
    X: Ints1d | None = None,
    Y: OutT | None = None,
) -> None:
    model.set_dim("nV", len(get_symbols(model)) + 1)
    init_table(initializer, model)


def take_symbols(model: Model, symbols: Symbols) -> None:
    """Take the symbols of a corpus: see `SymbolTaker`."""
    set_symbols(model, symbols.frequent)


def set_symbols(model: Model, symbols: numpy.ndarray) -> None:
    """Give a SymbolEmbed the symbols that get a row of their own.

    model (Model): A SymbolEmbed, as `find_symbol_takers` finds it.
    symbols (numpy.ndarray): *Shape:* `(n,)`, uint64, distinct, in any order.
    RAISES (ValueError): If the symbols are not of this kind, if `unk` is not a row of
        the table that they need, or if the layer is initialised already, with another
        number of them.
    """
    key, unk = model.attrs["key"], model.attrs["unk"]
    symbols = sort_symbols(key, symbols)
    if unk > len(symbols):
        raise ValueError(
            f"'unk' is row {unk}, but the table for {key} has only rows 0 to "
            f"{len(symbols)}: one for each of {len(symbols)} symbols and one for all "
            "others. Set unk = 0."
        )
    if model.has_param("E") and model.get_dim("nV") != len(symbols) + 1:
        raise ValueError(
            f"The table for {key} is initialised with {model.get_dim('nV')} rows and "
            f"can't be given {len(symbols)} symbols now. Build the pipeline anew from "
            "its config to train it on other data."
        )
    model.attrs["symbols"] = symbols


def check_weights(model: Model) -> None:
    """Check the table, the symbols and the unknown row once they arrive.

    RAISES (ValueError): If there are no symbols yet, or they, the table or the row
        can't be the layer's.
    """
    attrs, nV = model.attrs, model.maybe_get_dim("nV")
    check_once(model, _check_weights, attrs["symbols"], attrs["unk"], nV)


def _check_weights(model: Model) -> None:
    check_foreign(model, "looks symbols up", "seed")
    check_symbols(model, n_rows=model.maybe_get_dim("nV"))
    check_integer(model, "unk", 0, len(model.attrs["symbols"]))
    check_table(model)


def find_rows(model: Model, ids: Ints1d) -> Ints2d:
    """Find the row of each symbol. *Shape:* `(n, 1)`, uint32.

    RAISES (ValueError): If the symbols are not there or can't be the layer's.
    """
    check_weights(model)
    symbols, unk = model.attrs["symbols"], model.attrs["unk"]
    return look_up(model.ops, ids, symbols, unk=unk)


def get_finder(model: Model) -> Lookup:
    """Say how kernels find the rows.

    RAISES (ValueError): If the symbols are not there or can't be the layer's.
    """
    check_weights(model)
    gpu_symbols = model.attrs["gpu_symbols"].get(model.ops, model.attrs["symbols"])
    return Lookup(symbols=gpu_symbols, unk=model.attrs["unk"])


_COLUMN = ColumnFunctions(
    forward, check=check_weights, find_rows=find_rows, get_finder=get_finder
)
