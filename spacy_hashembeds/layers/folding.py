"""Prediction with folded tables: all their rows are multiplied with Maxout's weights in
advance, since the product of a sum of rows is the sum of their products.

A compiled kernel gathers and sums rows of `nP * nO` numbers, takes the maximum, and
normalizes. It also adds the products of columns that it can't embed, computed by numpy.
Without kernels, numpy does everything. Products of recent words are cached for the
kernel, and for short texts.

Folded tables take `nP + 1` times the memory of the tables, including a copy of the
tables for comparison (16.9 MB for spaCy's defaults), and some milliseconds to compute.
They are computed by the first prediction, and cached until weights change: see
`plan.py`.
"""

import os
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import compiled
from ..kernels.distinct import Distinct, find_distinct
from ..kernels.mixing import Norm, finish
from ..kernels.rows import (
    Finder,
    Lookup,
    Table,
    describe_finder,
    gather_add,
    lay_out_array,
    split,
)
from ..threads import one_thread
from .checks import peek
from .codecache import CodeCache, sum_products
from .maxout import lay_out
from .mixer import Mixer
from .plan import Plan

#: Environment variable that limits the size of folded tables, in MB.
LIMIT_NAME = "SPACY_HASHEMBEDS_FOLD_MB"
DEFAULT_LIMIT = "256"

#: Limit in bytes for cached products: at width 96, 16,384 words.
MAX_CACHED_BYTES = 2**25

#: Maximum length of a short text, for which deduplication costs more than it saves.
FEW_TOKENS = 256

# Values per block, whose rows fit into the processor's cache.
_BLOCK = 64


@dataclass
class FoldedTables:
    """Products of all tables' rows and Maxout's weights, or no tables.

    F: The products. *Shape:* `(rows of all tables, nP * nO)`, float32.
    tables: The products of each column that has rows: views of F.
    W: Maxout's weights of each other column.
    cache_bytes: Limit for cached products of keys.
    state: Replaced as a whole: threads never see an incomplete state.
    """

    F: NDArray
    tables: dict[int, NDArray]
    W: dict[int, NDArray]
    norm: Norm
    cache_bytes: int = 0
    state: "PredictionState | None" = None


class PredictionState(NamedTuple):
    """State for predicting with folded tables. Valid for one mixer and set of kernels.

    columns: The kernel's description of the first columns, if it can embed them.
    others: Indices of the columns that the kernel does not embed.
    kept: Indices of the columns whose products are cached.
    """

    mixer: Mixer
    kernels: Any
    columns: Any
    others: list[int]
    kept: list[int]
    products: CodeCache


class Fold(Plan[Any, FoldedTables]):
    """The plan of a layer that embeds by folded tables."""

    def __init__(self) -> None:
        super().__init__()
        self._bias_in_training: NDArray | None = None

    def invalidate(self, mixer: Mixer) -> None:
        """Drop folded tables. The next prediction folds only after an optimizer step.

        Folding takes longer than embedding a training batch, and annotating components
        predict only that batch before the optimizer step.
        """
        self._cached = None
        self._bias_in_training = peek(mixer.layers.layernorm, "b")

    def get(self, mixer: Mixer) -> FoldedTables:
        """Get the folded tables, or empty ones if tables are not folded."""
        found = self.find(mixer.models)
        if found is not None:
            return found
        mixer.check()
        # optimizers set each parameter, at least to another view of its memory
        old_bias, self._bias_in_training = self._bias_in_training, None
        if old_bias is not peek(mixer.layers.layernorm, "b") and _can_fold(mixer):
            found = self.get_or_compute(mixer.models, lambda: fold(mixer))
        if found is None:
            W, norm = lay_out(mixer.layers.maxout, mixer.layers.layernorm)
            parts = dict(enumerate(mixer.split_columns(W)))
            return FoldedTables(W[:0], {}, parts, norm)
        return found

    def renew(self, value: FoldedTables) -> FoldedTables:
        """Return the same tables without cached products, whose rounding depends on the
        batches that computed them.
        """
        return replace(value, state=None)


def fold(mixer: Mixer) -> FoldedTables:
    """Check the weights, and multiply all rows of all tables with Maxout's weights."""
    mixer.check()
    W, norm = lay_out(mixer.layers.maxout, mixer.layers.layernorm)
    parts = dict(enumerate(mixer.split_columns(W)))
    E = {i: peek(c.model, "E") for i, c in enumerate(mixer.columns) if c.has_rows}
    lengths = [len(rows) for rows in E.values()]
    F = np.empty((sum(lengths), len(W)), dtype="float32")
    tables = dict(zip(E, split(F, lengths), strict=True))
    for i, table in tables.items():
        np.matmul(E[i], parts.pop(i).T, out=table)
    others = {i: part.copy() for i, part in parts.items()}
    cache_bytes = int(min(MAX_CACHED_BYTES, 1e6 * _get_limit() - F.nbytes))
    return FoldedTables(F, tables, others, norm, cache_bytes)


def _can_fold(mixer: Mixer) -> bool:
    """True if there is anything to fold or cache within the limit."""
    if not any(column.has_rows or column.is_cached for column in mixer.columns):
        return False
    n_rows = sum(len(peek(c.model, "E")) for c in mixer.columns if c.has_rows)
    maxout, limit = mixer.layers.maxout, _get_limit()
    n_numbers = n_rows * maxout.get_dim("nO") * maxout.get_dim("nP")
    return limit > 0 and n_numbers * 4 / 1e6 <= limit


def _get_limit() -> float:
    """Read the limit in MB from the environment."""
    text = os.environ.get(LIMIT_NAME, DEFAULT_LIMIT)
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(
            f"{LIMIT_NAME} should be a number of megabytes, but is {text!r}."
        ) from error


def predict(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    state = folded.state
    if not (state and state.mixer is mixer and state.kernels is compiled.kernels):
        folded.state = state = _make_state(mixer, folded)
    F, norm, kept = folded.F, folded.norm, state.kept
    if state.columns is not None:
        embed = state.kernels.embed_folded
        if not state.others:
            return embed(F, state.columns, keys, norm)
        tokens = find_distinct(keys)
        sums = _sum_others(state, folded, kept, tokens.values)
        return tokens.gather(embed(F, state.columns, tokens.values, norm, sums))
    if len(keys) > FEW_TOKENS:
        kept = []
    elif len(kept) == len(mixer.columns):
        # deduplication takes longer than summing for each token
        return finish(_sum_others(state, folded, kept, keys), norm)
    tokens = _find_values(keys)
    sums = _sum_others(state, folded, kept, tokens.values)
    return tokens.gather(finish(sums, norm))


def _make_state(mixer: Mixer, folded: FoldedTables) -> PredictionState:
    mixer.check()
    indices, columns = [*range(len(mixer.columns))], _describe(mixer, folded)
    others = indices if columns is None else indices[len(folded.tables) :]
    kept = [i for i in indices if folded.cache_bytes > 0 and mixer.columns[i].is_cached]
    products = CodeCache(folded.cache_bytes, len(kept))
    return PredictionState(mixer, compiled.kernels, columns, others, kept, products)


def _describe(mixer: Mixer, folded: FoldedTables) -> Any:
    """Describe the columns with tables to the kernel; None if it can't embed them."""
    kernels, tables = compiled.kernels, folded.tables
    # columns with tables must come first
    if kernels is None or not tables or [*tables] != [*range(len(tables))]:
        return None
    described = []
    for i, table in tables.items():
        column = mixer.columns[i]
        finder = None if column.is_cached else column.get_finder()
        weights, weighting = column.get_weights(), None
        if finder is None or (column.has_weights and weights is None):
            return None
        if weights is not None:
            P = lay_out_array(weights.table.array, "float32")
            weighting = P, _describe_finder(P, weights.table.finder), weights.rehashes
        described.append((len(table), _describe_finder(table, finder), weighting))
    return kernels.FoldedColumns(described)


def _describe_finder(array: NDArray, finder: Finder) -> tuple:
    if isinstance(finder, Lookup):
        finder = replace(finder, symbols=lay_out_array(finder.symbols, "uint64"))
    return describe_finder(Table(array, finder))


def _sum_others(
    state: PredictionState, folded: FoldedTables, kept: list[int], keys: NDArray
) -> NDArray:
    """Sum the products of the columns in `state.others`, of which `kept` are cached.

    *Shape:* `(n, nP * nO)`.
    """
    mixer, sums = state.mixer, []
    if kept:
        # no copy if all columns are cached
        words = keys if len(kept) == keys.shape[1] else keys.take(kept, axis=1)
        sums.append(
            state.products.sum(
                words, lambda kind, words: _multiply(mixer, folded, kept[kind], words)
            )
        )
    rest = [i for i in state.others if i not in kept]
    if rest:
        values = [
            (_find_values if i in folded.tables else find_distinct)(keys[:, i])
            for i in rest
        ]
        pairs = zip(rest, values, strict=True)
        products = [_multiply(mixer, folded, i, value.values) for i, value in pairs]
        sums.append(sum_products(products, values))
    return sums[0] if len(sums) == 1 else sums[0] + sums[1]


def _find_values(keys: NDArray) -> Distinct:
    """Find distinct keys. Without kernels, few keys are assumed to be distinct."""
    if compiled.kernels is not None or len(keys) > FEW_TOKENS:
        return find_distinct(keys)
    return Distinct(keys, np.arange(len(keys), dtype="int32"))


def _multiply(mixer: Mixer, folded: FoldedTables, i: int, keys: NDArray) -> NDArray:
    """Multiply the vectors of a column's keys. *Shape:* `(m,)` to `(m, nP * nO)`."""
    if i not in folded.tables:
        with one_thread():
            X, _ = mixer.columns[i].embed(keys, False)
            product: NDArray = X @ folded.W[i].T
        return product
    table, (rows, weights) = folded.tables[i], mixer.columns[i].find_rows(keys)
    if weights is None:
        return gather_add(table, rows)
    summed = np.empty((len(rows), table.shape[1]), dtype="float32")
    with one_thread():
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            E = table[rows[block]]
            np.matmul(weights[block, None], E, out=summed[block, None])
    return summed
