"""Embed tokens through folded tables: see `folding.py`.

A compiled kernel finds the rows of each distinct token, sums and finishes them in the
processor's registers. Where it can't find the rows of a column, or their weights, all
columns are left to numpy.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...kernels import compiled
from ...kernels.distinct import find_distinct
from ...kernels.mixing import finish
from ...kernels.rows import Finder, Table, describe_finder
from ...kernels.sums import gather_add
from ...threads import one_thread
from ..codecache import CodeCache
from ..identity import Snapshot
from . import cpumixedembed
from .column import Column, Mixer
from .folding import FoldedTables, measure_room

#: Up to so many tokens, sorting out the copies takes longer than it saves.
FEW_TOKENS = 256

# Values at a time, so that what is gathered for them stays in the cache.
_BLOCK = 64

#: Rows of a table for each value, and what they are multiplied with, if not with 1.
Rows = tuple[NDArray, NDArray | None]


class Description(NamedTuple):
    """Description of columns for a kernel, and the attributes it was made by."""

    kernels: Any
    attrs: Snapshot
    columns: Any

    def is_current(self) -> bool:
        """Tell whether these kernels are in use, and attributes what they were."""
        return self.kernels is compiled.kernels and self.attrs.is_current()


class Kept(NamedTuple):
    """Products of keys and Maxout's weights, for as long as nothing changes them.

    settings: What they depend on beside parameters.
    columns: The numbers of the columns of which they are kept.
    with_rows: Those of others that have rows.
    others: Those of all others.
    """

    settings: Snapshot
    products: CodeCache
    columns: NDArray
    with_rows: list[int]
    others: list[int]


def predict(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    if compiled.kernels is not None:
        described: Description | None = folded.description
        if described is None or not described.is_current():
            folded.description = described = _describe(mixer, folded)
        if described.columns is not None:
            Y = _predict_compiled(mixer, folded, described.columns, keys)
            if Y is not None:
                return Y
    return predict_by_numpy(mixer, folded, keys)


def _predict_compiled(
    mixer: Mixer, folded: FoldedTables, columns: Any, keys: NDArray
) -> NDArray | None:
    embed = partial(compiled.kernels.embed_folded, folded.F, columns)
    if not folded.W:
        return embed(keys, folded.norm)
    kept = _get_kept(mixer, folded)
    if len(keys) <= FEW_TOKENS:
        return embed(keys, folded.norm, _sum_kept(mixer, folded, kept, keys))
    tokens = find_distinct(keys)
    beside = _sum_kept(mixer, folded, kept, tokens.values)
    Y = embed(tokens.values, folded.norm, beside)
    return None if Y is None else tokens.gather(Y)


def _describe(mixer: Mixer, folded: FoldedTables) -> Description:
    kernels: Any = compiled.kernels
    attrs = Snapshot(model.attrs for model in mixer.embedding)
    for column in mixer.columns:
        column.check()
    starts = [*map(int, folded.starts.values()), len(folded.F)]
    columns = []
    # those with tables come first, and the kernel is given products of all others
    n_tables = len(folded.starts)
    others = mixer.columns[n_tables:]
    is_in_order = [*folded.starts] == [*range(n_tables)] and n_tables > 0
    if not is_in_order or not all(column.is_kept for column in others):
        return Description(kernels, attrs, None)
    for i, column in enumerate(mixer.columns[:n_tables]):
        finder = None if column.is_kept else column.get_finder()
        if finder is None or not _can_be_read(finder):
            return Description(kernels, attrs, None)
        table = Table(folded.F[starts[i] : starts[i + 1]], finder)
        weights = _describe_weights(column)
        if weights is None and column.has_weights:
            return Description(kernels, attrs, None)
        columns.append((len(table.array), describe_finder(table), weights))
    return Description(kernels, attrs, kernels.FoldedColumns(columns))


def _describe_weights(column: Column) -> tuple | None:
    """Describe the weights of rows, or None if there are none that the kernel reads."""
    weights = column.get_weights()
    if weights is None:
        return None
    table, rehashes = weights
    if compiled.get_for(table.array) is None or not _can_be_read(table.finder):
        return None
    return table.array, describe_finder(table), rehashes


def _can_be_read(finder: Finder) -> bool:
    """Tell whether the kernel can read the symbols, if there are any.

    They were checked, but another thread may have set others since.
    """
    symbols = finder.symbols
    if symbols is None:
        return True
    if type(symbols) is not np.ndarray or symbols.dtype != "uint64":
        return False
    return symbols.ndim == 1 and symbols.flags.c_contiguous and symbols.flags.aligned


def predict_by_numpy(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Do the same as `predict`, column by column."""
    if len(keys) <= FEW_TOKENS:
        return _predict_few(mixer, folded, keys)
    if not folded.starts:
        with one_thread():
            return cpumixedembed.predict(mixer, keys)
    tokens = find_distinct(keys)
    mixed = _sum_distinct_rows(mixer, folded, tokens.values)
    others = list(folded.W)
    return tokens.gather(_finish(mixer, folded, mixed, tokens.values, others))


def _predict_few(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Embed tokens of which most have been met before, if their products are kept."""
    kept = _get_kept(mixer, folded)
    sums = []
    if len(kept.columns) > 0:
        sums.append(_sum_kept(mixer, folded, kept, keys))
    if kept.with_rows:
        sums.append(_sum_rows(mixer, folded, keys, kept.with_rows))
    mixed = sums[0] if len(sums) == 1 else sums[0] + sums[1]
    return _finish(mixer, folded, mixed, keys, kept.others)


def _get_kept(mixer: Mixer, folded: FoldedTables) -> Kept:
    kept: Kept | None = folded.kept
    if kept is None or not kept.settings.is_current():
        folded.kept = kept = _make_kept(mixer, folded)
    return kept


def _sum_kept(mixer: Mixer, folded: FoldedTables, kept: Kept, keys: NDArray) -> NDArray:
    """Sum the products of each token that are kept. *Shape:* `(n, nP * nO)`."""
    multiply = partial(_multiply, mixer, folded, kept.columns)
    return kept.products.sum(keys.take(kept.columns, axis=1), multiply)


def _make_kept(mixer: Mixer, folded: FoldedTables) -> Kept:
    layers = mixer.embedding
    settings = Snapshot([m.attrs for m in layers] + [m._dims for m in layers])
    (columns,) = np.nonzero([column.is_kept for column in mixer.columns])
    return Kept(
        settings,
        CodeCache(measure_room(folded.F), len(columns)),
        columns,
        [i for i in folded.starts if i not in columns],
        [i for i in folded.W if i not in columns],
    )


def _multiply(
    mixer: Mixer, folded: FoldedTables, columns: NDArray, kind: int, keys: NDArray
) -> NDArray:
    """Multiply the vectors of keys of a column. *Shape:* `(m,)` to `(m, nP * nO)`."""
    i = int(columns[kind])
    if i in folded.starts:
        rows, weights = mixer.columns[i].find_rows(keys)
        return _gather(folded.F, rows + folded.starts[i], weights)
    with one_thread():
        X, _ = mixer.columns[i].embed(keys, False)
        return cast(NDArray, X @ folded.W[i].T)


def _sum_rows(
    mixer: Mixer, folded: FoldedTables, keys: NDArray, columns: Sequence[int]
) -> NDArray:
    """Sum the folded rows of each token. *Shape:* `(n, nP * nO)`."""
    found = [
        (rows + folded.starts[i], weights)
        for i in columns
        for rows, weights in [mixer.columns[i].find_rows(keys[:, i])]
    ]
    rows = np.concatenate([rows for rows, _ in found], axis=1)
    return _gather(folded.F, rows, _join_weights(found, axis=1))


def _sum_distinct_rows(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Do the same as `_sum_rows`, summing first within each column, once a value."""
    found, indices, n_values = [], [], 0
    for i, start in folded.starts.items():
        values = find_distinct(keys[:, i])
        rows, weights = mixer.columns[i].find_rows(values.values)
        found.append((rows + start, weights))
        indices.append(values.copies + n_values)
        n_values += len(values.values)
    if len({rows.shape[1] for rows, _ in found}) > 1:
        products = np.concatenate([_gather(folded.F, *rows) for rows in found])
    else:
        all_rows = np.concatenate([rows for rows, _ in found])
        products = _gather(folded.F, all_rows, _join_weights(found, axis=0))
    return gather_add(products, np.stack(indices, axis=1))


def _join_weights(found: Sequence[Rows], axis: int) -> NDArray | None:
    """Join the weights of columns, if some have any: others' are 1."""
    if all(weights is None for _, weights in found):
        return None
    parts = [
        np.ones(rows.shape, dtype="float32") if weights is None else weights
        for rows, weights in found
    ]
    return np.concatenate(parts, axis=axis)


def _gather(F: NDArray, rows: NDArray, weights: NDArray | None) -> NDArray:
    """Sum the rows of each value, weighted or not. *Shape:* `(m, k)` to `(m, w)`."""
    if weights is None:
        return gather_add(F, rows)
    summed = np.empty((len(rows), F.shape[1]), dtype="float32")
    with one_thread():
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            np.matmul(weights[block, None], F[rows[block]], out=summed[block, None])
    return summed


def _finish(
    mixer: Mixer,
    folded: FoldedTables,
    mixed: NDArray,
    keys: NDArray,
    others: Sequence[int],
) -> NDArray:
    """Add what has no rows, take the maximum, and normalise."""
    for i in others:
        values = find_distinct(keys[:, i])
        with one_thread():
            X, _ = mixer.columns[i].embed(values.values, False)
            mixed += values.gather(X @ folded.W[i].T)
    return finish(mixed, folded.norm)
