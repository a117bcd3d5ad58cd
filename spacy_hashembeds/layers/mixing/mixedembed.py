"""Embed tokens by their columns of keys, by the fastest way there is for it.

On the CPU, what `with_array(concatenate(*tables))` and `with_array(Maxout(...,
normalize=True))` compute together, by the same layers, but in another order:

- A column has fewer distinct values than a batch has distinct tokens, and these are far
  fewer than tokens. Each value is embedded, and multiplied with its column's part of
  Maxout's weights, once; or its rows are found in folded tables: see `folding.py`.
- The products are summed for each distinct token (`W x = W₁ x₁ + … + W_c x_c`), whose
  maximum and layer normalisation are computed once.
- Gradients of copies are summed before they go back the same way.

In prediction, a compiled kernel finds the rows of each distinct token, sums and
finishes them in the processor's registers. It is given the products of the columns that
it can't embed, or all are left to numpy. Those of words met lately are kept for the
kernel, and for short texts.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import NumpyOps

from ...kernels import compiled
from ...kernels.distinct import MAX_COLUMNS, Distinct, find_distinct
from ...kernels.mixing import begin_finish, finish
from ...kernels.rows import Finder, Table, describe_finder
from ...kernels.sums import gather_add
from ...threads import one_thread
from ..codecache import CodeCache
from ..dropout import draw_mask
from ..maxout import inc_maxout_grads, lay_out
from . import gpumixedembed
from .column import Array, Backprop, Column, Mixer
from .folding import Fold, FoldedTables

#: Up to so many tokens are few.
FEW_TOKENS = 256

# Values at a time, so that what is gathered for them stays in the cache.
_BLOCK = 64


def can_embed(mixer: Mixer) -> bool:
    """Tell whether there is a fast path for these layers where they are."""
    if len(mixer.columns) > MAX_COLUMNS:
        return False
    if mixer.is_on_gpu:
        return gpumixedembed.can_embed(mixer)
    return isinstance(mixer.maxout.ops, NumpyOps)


def forward(
    mixer: Mixer, fold: Fold, keys: Any, is_train: bool
) -> tuple[Array, Callable[[Array], None]]:
    """Embed tokens by their keys, with layers for which `can_embed` is true.

    Keys are in memory of the processor or of the GPU, a column for each of the mixer's.
    *Shapes:* `(n, columns)`, uint64, n > 0, to `(n, nO)`, float32.
    """
    if mixer.is_on_gpu:
        return gpumixedembed.forward(mixer, keys, is_train)
    if not is_train:
        return predict(mixer, fold.get(mixer), keys), lambda dY: None
    fold.expect_update(mixer)
    with one_thread():
        Y, backprop_tokens = begin_update(mixer, keys)

    def backprop(dY: Array) -> None:
        with one_thread():
            backprop_tokens(dY)

    return Y, backprop


class Ready(NamedTuple):
    """Users of folded tables, for as long as columns are what they were.

    columns: What the kernel is told of the first columns, if it can embed these.
    others: The numbers of all others.
    kept: The numbers of those whose products are kept.
    """

    mixer: Mixer
    kernels: Any
    columns: Any
    others: list[int]
    kept: list[int]
    products: CodeCache


def predict(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray:
    ready: Ready | None = folded.ready
    kernels = compiled.kernels
    if ready is None or ready.mixer is not mixer or ready.kernels is not kernels:
        folded.ready = ready = _make_ready(mixer, folded)
    if ready.columns is not None:
        embed, F, norm = kernels.embed_folded, folded.F, folded.norm
        if not ready.others:
            Y: NDArray | None = embed(F, ready.columns, keys, norm)
        else:
            tokens = find_distinct(keys)
            beside = _mix(ready, folded, ready.kept, ready.others, tokens.values)
            Y = embed(F, ready.columns, tokens.values, norm, beside)
            Y = None if Y is None else tokens.gather(Y)
        if Y is not None:
            return Y
    return predict_by_numpy(ready, folded, keys)


def predict_by_numpy(ready: Ready, folded: FoldedTables, keys: NDArray) -> NDArray:
    """Do the same as `predict`, column by column."""
    kept = ready.kept if len(keys) <= FEW_TOKENS else []
    if len(kept) == keys.shape[1]:  # to find copies takes longer than to sum for each
        return finish(_mix(ready, folded, kept, (), keys), folded.norm)
    tokens = _find_values(keys)
    mixed = _mix(ready, folded, kept, range(keys.shape[1]), tokens.values)
    return tokens.gather(finish(mixed, folded.norm))


def _make_ready(mixer: Mixer, folded: FoldedTables) -> Ready:
    columns, all_columns = None, [*range(len(mixer.columns))]
    if compiled.kernels is not None and folded.starts:
        columns = _describe(mixer, folded)
    others = all_columns if columns is None else all_columns[len(folded.starts) :]
    is_kept = [folded.room > 0 and column.is_kept for column in mixer.columns]
    kept = [i for i in all_columns if is_kept[i]]
    products = CodeCache(folded.room, len(kept))
    return Ready(mixer, compiled.kernels, columns, others, kept, products)


def _describe(mixer: Mixer, folded: FoldedTables) -> Any:
    """Describe the columns that have tables to the kernel, or None if it can't."""
    for column in mixer.columns:
        column.check()
    starts = [*map(int, folded.starts.values()), len(folded.F)]
    columns = []
    # those with tables come first, and the kernel is given products of all others
    if [*folded.starts] != [*range(len(folded.starts))]:
        return None
    for i in folded.starts:
        column = mixer.columns[i]
        finder = None if column.is_kept else column.get_finder()
        if finder is None or not _can_be_read(finder):
            return None
        table = Table(folded.F[starts[i] : starts[i + 1]], finder)
        weights = _describe_weights(column)
        if weights is None and column.has_weights:
            return None
        columns.append((len(table.array), describe_finder(table), weights))
    return compiled.kernels.FoldedColumns(columns)


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


def _mix(
    ready: Ready,
    folded: FoldedTables,
    kept: list[int],
    columns: Iterable[int],
    keys: NDArray,
) -> NDArray:
    """Sum the products of some columns for each token, of which some are kept.

    *Shape:* `(n, nP * nO)`.
    """
    mixer, sums = ready.mixer, []
    if kept:
        # no copy of what is kept anyway, where all columns are
        words = keys if len(kept) == keys.shape[1] else keys.take(kept, axis=1)
        sums.append(
            ready.products.sum(
                words, lambda kind, words: _multiply(mixer, folded, kept[kind], words)
            )
        )
    rest = [i for i in columns if i not in kept]
    if rest:
        values = [
            (_find_values if i in folded.starts else find_distinct)(keys[:, i])
            for i in rest
        ]
        pairs = zip(rest, values, strict=True)
        products = [_multiply(mixer, folded, i, value.values) for i, value in pairs]
        sums.append(_sum_products(products, values))
    return sums[0] if len(sums) == 1 else sums[0] + sums[1]


def _find_values(keys: NDArray) -> Distinct:
    """Find distinct keys, but not of few in numpy: it takes longer than it saves."""
    if compiled.kernels is not None or len(keys) > FEW_TOKENS:
        return find_distinct(keys)
    return Distinct(keys, np.arange(len(keys), dtype="int32"))


def _multiply(mixer: Mixer, folded: FoldedTables, i: int, keys: NDArray) -> NDArray:
    """Multiply the vectors of keys of a column. *Shape:* `(m,)` to `(m, nP * nO)`."""
    if i not in folded.starts:
        with one_thread():
            X, _ = mixer.columns[i].embed(keys, False)
            product: NDArray = X @ folded.W[i].T
        return product
    rows, weights = mixer.columns[i].find_rows(keys)
    rows = rows + folded.starts[i]
    if weights is None:
        return gather_add(folded.F, rows)
    summed = np.empty((len(rows), folded.F.shape[1]), dtype="float32")
    with one_thread():
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            E = folded.F[rows[block]]
            np.matmul(weights[block, None], E, out=summed[block, None])
    return summed


def _sum_products(products: Sequence[NDArray], values: Sequence[Distinct]) -> NDArray:
    """Sum the products of each token, of the values of each column."""
    indices, start = [], 0
    for distinct in values:
        indices.append(distinct.copies + start)
        start += len(distinct.values)
    return gather_add(np.concatenate(products), np.stack(indices, axis=1))


class EmbeddedColumn(NamedTuple):
    """Distinct values of a column, their vectors, `(m, width)`, and its part of W."""

    keys: Distinct
    X: NDArray
    backprop: Backprop
    W: NDArray


def begin_update(mixer: Mixer, keys: NDArray) -> tuple[NDArray, Callable]:
    mixer.check()
    tokens = find_distinct(keys)
    W, norm = lay_out(mixer.maxout, mixer.layernorm)
    columns = []
    for i, W_column in enumerate(mixer.split_columns(W)):
        distinct = find_distinct(tokens.values[:, i])
        X, backprop_column = mixer.columns[i].embed(distinct.values, True)
        columns.append(EmbeddedColumn(distinct, X, backprop_column, W_column))
    products = [column.X @ column.W.T for column in columns]
    mixed = _sum_products(products, [column.keys for column in columns])
    Y, backprop_mixed = begin_finish(mixed, norm)
    Y = tokens.gather(Y)
    # numbers of each token are dropped on its own, copies of one too
    mask = None if mixer.dropout is None else draw_mask(mixer.dropout, Y.shape)

    def backprop(dY: NDArray) -> None:
        dY = tokens.scatter_add(dY if mask is None else dY * mask)
        d_norm = norm.make_zeros()
        d_mixed = backprop_mixed(dY, d_norm)
        dW = np.empty_like(W)
        for column, dW_column in zip(columns, mixer.split_columns(dW), strict=True):
            d_product = column.keys.scatter_add(d_mixed)
            np.matmul(d_product.T, column.X, out=dW_column)
            column.backprop(d_product @ column.W)
        inc_maxout_grads(mixer.maxout, mixer.layernorm, dW, d_norm)

    return Y if mask is None else Y * mask, backprop
