import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d, Ints1d, Ints2d

from ..hashing import murmur
from ..hashing.murmur import MAX_HASHES
from ..hashing.reached import count_reached_rows
from ..kernels.cuda import is_used_by
from ..kernels.rows import Hashing
from ..kernels.sums import NUMPY_OPS
from .checks import REMEDY, check_foreign, check_integer
from .mixing.column import Column, ColumnFunctions
from .mixing.gputables import GpuCopy, embed_ids
from .params import check_once
from .symboltaker import Symbols, are_sorted_symbols, get_symbols, set_symbols
from .table import (
    apply_dropout,
    check_table,
    find_rows,
    finish_layer,
    get_table,
    inc_table_grad,
    init_table,
)

InT = TypeVar("InT", bound=Ints1d | Ints2d)
OutT = Floats2d


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
    model: Model = Model(
        "hybridembed",
        forward,
        init=init,
        params={"E": None},
        dims={"nO": nO, "nV": None, "nI": None},
        attrs={
            "column": column,
            "key": key,
            "symbols": None,
            "rows": rows,
            "seed": seed,
            "num_hashes": num_hashes,
            "gpu_symbols": GpuCopy(),
            "column_functions": _COLUMN,
            "symbol_taker": take_symbols,
        },
    )
    return finish_layer(model, column, dropout)


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    if is_used_by(model.ops):
        return embed_ids(Column(model, _COLUMN), ids, is_train)
    finder = get_finder(model)  # which checks weights
    nV = model.get_dim("nV")
    rows: Any = find_rows(model.ops, finder, ids, nV)
    first, more = rows[:, :1], rows[:, 1:]
    # those that have more rows than the first
    hashed = np.flatnonzero((more < nV).any(axis=1))
    more = more[hashed]
    E: Any = get_table(model)
    output = E[first[:, 0]]
    for rows_of_hash in more.T:
        output[hashed] += E[rows_of_hash]
    output, backprop_dropout = apply_dropout(model, output, is_train)

    def backprop(d_output: OutT) -> Ints1d:
        d_sums: Any = backprop_dropout(d_output)
        inc_table_grad(model, "E", first, d_sums)
        inc_table_grad(model, "E", more, d_sums[hashed])
        return model.ops.alloc1i(len(rows))

    return output, backprop


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    get_symbols(model)  # without them, nothing says how many rows there are
    init_table(uniform_init, model)


def take_symbols(model: Model, symbols: Symbols) -> None:
    key, rows = model.attrs["key"], model.attrs["rows"]
    n = len(symbols.frequent)
    if n >= rows:
        raise ValueError(
            f"'rows' gives the table for {key} {rows:,} rows, but {n:,} "
            "symbols are frequent enough for one of their own, and one more is needed "
            f"for all others. Set 'min_freq' higher, or the rows for {key} to "
            f"{n + 1:,} or more."
        )
    nV = n + _count_hashed_rows(model, symbols, rows - n)
    set_symbols(model, symbols.frequent, "nV", nV)
    model.set_dim("nV", nV, force=True)


def _count_hashed_rows(model: Model, symbols: Symbols, most: int) -> int:
    key, rare = model.attrs["key"], symbols.rare
    if rare is None:
        raise ValueError(
            f"The table for {key} needs the rare symbols of the corpus too, but the "
            "file in 'tables' holds only frequent ones. Make it anew with `spacy "
            "hashembeds tables`."
        )
    if len(rare) == 0:
        if len(symbols.frequent) > 0:
            warnings.warn(
                f"Each {key} of the corpus has a row of its own, so that the row for "
                "all others is never trained, and unknown words get what it was "
                "initialised with. Set 'min_freq' higher.",
                stacklevel=2,
            )
        return 1
    seed, num_hashes = model.attrs["seed"], model.attrs["num_hashes"]
    hashes = murmur.hash_keys(NUMPY_OPS, rare, seed=seed, num_hashes=num_hashes)
    return count_reached_rows(hashes, most)


def check_weights(model: Model) -> None:
    check_foreign(model, "hashes what it does not look up", "unk")
    if not model.has_param("E"):
        get_symbols(model)
    symbols, nV = model.attrs["symbols"], model.maybe_get_dim("nV")
    if not are_sorted_symbols(symbols) or nV is None or len(symbols) >= nV:
        raise ValueError(
            f"The symbols for {model.attrs['key']} should be distinct numbers in "
            f"ascending order, fewer than the {nV} rows, but are not. {REMEDY}"
        )
    # read where training begins anew: the most that there may be
    check_integer(model, "rows", nV, 2**32)
    check_integer(model, "seed", 0, 2**32 - 1)
    check_integer(model, "num_hashes", 1, MAX_HASHES)
    check_table(model)


def get_finder(model: Model) -> Hashing:
    check_once(model, check_weights)
    attrs, symbols = model.attrs, model.attrs["symbols"]
    return Hashing(
        seed=attrs["seed"],
        num_hashes=attrs["num_hashes"],
        symbols=attrs["gpu_symbols"].get(model.ops, symbols),
        n_hashed=model.get_dim("nV") - len(symbols),
    )


def get_padded_table(model: Model) -> Floats2d:
    """Get the table, and after it a row of zeros for none. *Shape:* `(nV + 1, nO)`.

    It is a lot faster to compute with all rows at once if each symbol has as many.
    """
    xp: Any = model.ops.xp
    return xp.pad(get_table(model), ((0, 1), (0, 0)))


def count_padded_rows(model: Model) -> int:
    return model.get_dim("nV") + 1


_COLUMN = ColumnFunctions(
    forward,
    check=check_weights,
    get_table=get_padded_table,
    count_rows=count_padded_rows,
    get_finder=get_finder,
)
