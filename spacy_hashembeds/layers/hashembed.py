from collections.abc import Callable
from typing import TypeVar, cast

from thinc.api import Model, chain
from thinc.initializers import uniform_init
from thinc.layers.array_getitem import ints_getitem
from thinc.types import Floats2d, Ints1d, Ints2d
from thinc.util import partial

from .table import apply_dropout, get_table, init_table

InT = TypeVar("InT", bound=Ints1d | Ints2d)
OutT = Floats2d

#: MurmurHash3_x64_128 gives 128 bits, which `Ops.hash` cuts into four uint32.
MAX_HASHES = 4


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

    With four hashes this is Thinc's `HashEmbed.v1`: the same rows, values,
    gradients, dropout and parameter names. It differs where that layer is a trap:
    empty input works both ways, the gradient that comes in is left as it was, and
    the seed is always explicit.

    nO (int): The width of the table and of the output.
    nV (int): The number of rows.
    num_hashes (int): How many rows to sum, 1 to 4. Row k of key x is
        `murmur(x, seed)[k] % nV`, so fewer hashes use a prefix of the same rows.
    seed (int): The hash seed, an unsigned 32-bit integer.
    column (int, optional): Embed this column of a two-dimensional input.
    initializer (Callable): Fills the table; by default uniform in ±0.1.
    dropout (float, optional): If given, whole output dimensions are dropped for
        all keys of a batch together. spaCy's trainer sets the rate itself.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32.

    Source: Tito Svenstrup et al. (2017), and Miranda et al., "Multi hash embeddings
    in spaCy", §3.1, equation 2.
    """
    model: Model = Model(
        "hashembed",
        forward,
        init=partial(init_table, initializer),
        params={"E": None},
        dims={"nO": nO, "nV": nV, "nI": None},
        attrs={"column": column, "seed": seed, "num_hashes": num_hashes},
    )
    if dropout is not None:
        model.attrs["dropout_rate"] = dropout
    if column is not None:
        model = chain(ints_getitem((slice(0, None), column)), model)
        model.attrs["column"] = column
    return cast(Model[InT, OutT], model)


def forward(
    model: Model[Ints1d, OutT], ids: Ints1d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ints1d]]:
    E = get_table(model)
    rows = _hash_to_rows(model, ids, E.shape[0])
    output: Floats2d = (
        model.ops.gather_add(E, rows)
        if len(ids)
        else model.ops.alloc2f(0, E.shape[1], dtype=E.dtype)
    )
    output, backprop_dropout = apply_dropout(model, output, is_train)

    def backprop(d_output: OutT) -> Ints1d:
        d_output = backprop_dropout(d_output)
        dE = model.ops.alloc2f(*E.shape)
        for rows_of_hash in model.ops.as_contig(rows.T, dtype="i"):
            model.ops.scatter_add(dE, rows_of_hash, d_output)
        model.inc_grad("E", dE)
        return model.ops.alloc1i(len(ids))

    return output, backprop


def _hash_to_rows(model: Model, ids: Ints1d, nV: int) -> Ints2d:
    """Give the rows of each key. *Shape:* `(n, num_hashes)`, uint32."""
    num_hashes = model.attrs["num_hashes"]
    if len(ids) == 0:
        return model.ops.alloc2i(0, num_hashes)
    keys = model.ops.hash(model.ops.as_contig(ids, dtype="uint64"), model.attrs["seed"])
    return model.ops.as_contig(cast(Ints2d, keys[:, :num_hashes] % nV))
