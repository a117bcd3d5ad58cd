"""Tables with Maxout's weights multiplied in, so that prediction has none left to do.

The product of a sum of rows is the sum of their products, so that the rows of all
tables can be multiplied with their part of Maxout's weights once and for all:
`Wᵢ(E[a] + E[b]) = (Wᵢ E[a]) + (Wᵢ E[b])`. What is left of the embedding is to gather
and sum rows of `nP * nO` numbers, to take the maximum, and to normalise.

Folded tables take `nP` times the memory of the tables (14.4 MB for spaCy's usual ones),
and some milliseconds to make. They are made when the same weights are used a second
time, never while somebody else has a hand on the weights, and dropped when they change:
see `watch.py`.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..kernels.distinct import NUMPY_OPS, find_distinct, find_distinct_rows
from ..kernels.mixing import maximum, normalize, pieces_first
from .mixedembed import EmbedColumn, MixedEmbed, peek_norm, split_pieces
from .table import get_table
from .watch import count_accesses, is_shared, peek

#: Finds the rows of a table that are summed for each key. *Shape:* `(n, k)`, uint32.
FindRows = Callable[[NDArray], NDArray]

#: The name of the environment variable that bounds the size of a folded table.
LIMIT_NAME = "SPACY_HASHEMBEDS_FOLD_MB"
DEFAULT_LIMIT = "256"

#: Up to so many tokens, sorting out the copies takes longer than it saves.
FEW_TOKENS = 256


@dataclass(frozen=True)
class FoldedTables:
    """All tables in one, with Maxout's weights multiplied in.

    F (NDArray): The products. *Shape:* `(rows of all tables, nP * nO)`, float32.
    starts (NDArray): Where the rows of each table begin. *Shape:* `(tables,)`, uint32.
    W (NDArray): Maxout's weights for the columns that have no table. *Shape:*
        `(nP * nO, width * columns without table)`.
    bias (NDArray): Maxout's bias. *Shape:* `(nP * nO,)`.
    """

    F: NDArray
    starts: NDArray
    W: NDArray
    bias: NDArray


@dataclass
class Fold:
    """Holds the folded tables of a layer. Neither copied, pickled nor saved with it.

    folded (FoldedTables, optional): Once they are made.
    seen (Any): The state of the parameters that was last seen, or folded.
    """

    folded: FoldedTables | None = None
    seen: Any = None

    def __reduce__(self) -> tuple:
        return Fold, ()

    def get(self, layers: MixedEmbed, *, at_once: bool = False) -> FoldedTables | None:
        """Get the folded tables, or None if they can't be used this time.

        at_once (bool): Whether to make them when the weights are seen the first time,
            where that takes next to no time.
        """
        models = [*layers.tables, layers.maxout]
        if is_shared(models):
            self.folded = self.seen = None
            return None
        state = count_accesses(models)
        is_new = self.seen != state
        if is_new:
            self.folded, self.seen = None, state
        is_due = self.folded is None and (at_once or not is_new)
        if is_due and _get_size(layers) <= _get_limit():
            self.folded = fold(layers)
        return self.folded


def fold(layers: MixedEmbed) -> FoldedTables:
    """Multiply all rows of all tables with Maxout's weights."""
    W, bias = pieces_first(peek(layers.maxout, "W"), peek(layers.maxout, "b"))
    tables = cast(list[NDArray], [get_table(table) for table in layers.tables])
    width = tables[0].shape[1]
    starts = np.cumsum([0, *(len(E) for E in tables)], dtype="uint32")
    xp: Any = layers.maxout.ops.xp
    F = xp.empty((int(starts[-1]), len(W)), dtype="float32")
    for column, (E, start) in enumerate(zip(tables, starts.tolist(), strict=False)):
        W_column = W[:, column * width : (column + 1) * width]
        xp.matmul(E, W_column.T, out=F[start : start + len(E)])
    # copies: with one piece these are views of the parameters, which would look shared
    W_columns = W[:, len(tables) * width :].copy()
    return FoldedTables(F, starts[:-1], W_columns, bias.copy())


def predict_folded(
    layers: MixedEmbed,
    folded: FoldedTables,
    keys: NDArray,
    find_rows: Sequence[FindRows],
    more: Sequence[EmbedColumn],
) -> NDArray:
    """Embed tokens by their keys, through folded tables: see `mixedembed.predict`.

    find_rows (Sequence[FindRows]): For each table what finds the rows of its keys.
    """
    if len(keys) <= FEW_TOKENS:
        return _mix(layers, folded, _sum_rows(folded, keys, find_rows), keys, more)
    tokens = find_distinct_rows(keys)
    mixed = _sum_distinct_rows(folded, tokens.values, find_rows)
    return tokens.share(_mix(layers, folded, mixed, tokens.values, more))


def _sum_rows(
    folded: FoldedTables, keys: NDArray, find_rows: Sequence[FindRows]
) -> NDArray:
    """Sum the rows of all columns of each token. *Shape:* `(n, nP * nO)`."""
    rows = [
        find(column) + start
        for find, column, start in zip(find_rows, keys.T, folded.starts, strict=False)
    ]
    return NUMPY_OPS.gather_add(folded.F, np.concatenate(rows, axis=1))


def _sum_distinct_rows(
    folded: FoldedTables, keys: NDArray, find_rows: Sequence[FindRows]
) -> NDArray:
    """Do the same as `_sum_rows`, summing first within each column, once a value."""
    rows, indices, n_values = [], [], 0
    for find, column, start in zip(find_rows, keys.T, folded.starts, strict=False):
        values = find_distinct(column)
        rows.append(find(values.values) + start)
        indices.append(values.copies + n_values)
        n_values += len(values.values)
    products = NUMPY_OPS.gather_add(folded.F, np.concatenate(rows))
    return NUMPY_OPS.gather_add(products, np.stack(indices, axis=1))


def _mix(
    layers: MixedEmbed,
    folded: FoldedTables,
    mixed: NDArray,
    keys: NDArray,
    more: Sequence[EmbedColumn],
) -> NDArray:
    """Add what has no table, take the maximum, and normalise."""
    mixed += folded.bias
    W_columns = np.split(folded.W, len(more), axis=1) if more else ()
    for embed, W_column, column in zip(
        more, W_columns, keys.T[len(layers.tables) :], strict=True
    ):
        values = find_distinct(column)
        X, _ = embed(values.values, False)
        mixed += values.share(X @ W_column.T)
    return normalize(maximum(split_pieces(mixed, layers)), *peek_norm(layers))


def _get_size(layers: MixedEmbed) -> float:
    """Say how many MB the folded tables would take."""
    n_rows = sum(table.get_dim("nV") for table in layers.tables)
    return n_rows * layers.maxout.get_dim("nO") * layers.maxout.get_dim("nP") * 4 / 1e6


def _get_limit() -> float:
    """Read the limit in MB from the environment, so that it can be changed."""
    value = os.environ.get(LIMIT_NAME, DEFAULT_LIMIT)
    try:
        return float(value)
    except ValueError:
        raise ValueError(
            f"The environment variable {LIMIT_NAME} should be a number of megabytes, "
            f"but is {value!r}."
        ) from None
