from collections.abc import Callable
from typing import Any, TypeVar

from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d, Ints1d, Ints2d
from thinc.util import partial

from ..hashing.murmur import MAX_HASHES
from ..kernels.cuda import is_used_by
from ..kernels.rows import Hashing
from ..kernels.sums import gather_add
from .checks import check_foreign, check_integer
from .mixing.column import Column, ColumnFunctions
from .mixing.gputables import embed_ids
from .params import check_once
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


def HashEmbed(
    nO: int,
    nV: int,
    *,
    num_hashes: int = MAX_HASHES,
    seed: int,
    column: int | None = None,
    initializer: Callable = uniform_init,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map integers to the sum of one to four rows of a table, chosen by hashing.

    With four hashes this is Thinc's `HashEmbed.v1`, but that empty input works both
    ways, the gradient that comes in is left as it was, and the seed is always explicit.

    nO, nV (int): The width of the table and of the output, and the number of rows.
    num_hashes (int): How many rows to sum, 1 to 4. Row k of key x is
        `murmur(x, seed)[k] % nV`, so fewer hashes use a prefix of the same rows.
    seed (int): The hash seed, an unsigned 32-bit integer.
    column, initializer, dropout: See `finish_layer`.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32.

    Source: Tito Svenstrup et al. (2017), and Miranda et al., "Multi hash embeddings in
    spaCy", §3.1, equation 2.
    """
    model: Model = Model(
        "hashembed",
        forward,
        init=partial(init_table, initializer),
        params={"E": None},
        dims={"nO": nO, "nV": nV, "nI": None},
        attrs={
            "column": column,
            "seed": seed,
            "num_hashes": num_hashes,
            "column_functions": _COLUMN,
        },
    )
    return finish_layer(model, column, dropout)


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    if is_used_by(model.ops):
        return embed_ids(Column(model, _COLUMN), ids, is_train)
    rows: Any = find_rows(model.ops, get_finder(model), ids, model.get_dim("nV"))
    table: Any = get_table(model)
    output: Any = gather_add(table, rows)
    return finish_forward(model, rows, output, is_train)


def check_weights(model: Model) -> None:
    check_foreign(model, "hashes", "symbols")
    check_integer(model, "seed", 0, 2**32 - 1)
    check_integer(model, "num_hashes", 1, MAX_HASHES)
    check_table(model)


def get_finder(model: Model) -> Hashing:
    check_once(model, check_weights)
    return Hashing(seed=model.attrs["seed"], num_hashes=model.attrs["num_hashes"])


_COLUMN = ColumnFunctions(forward, check=check_weights, get_finder=get_finder)
