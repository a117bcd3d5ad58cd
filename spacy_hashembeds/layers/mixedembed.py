"""Embed tokens by their columns of keys, and mix the vectors.

On the CPU, this module computes the same as `with_array(concatenate(*tables))` followed
by `with_array(Maxout(..., normalize=True))`, with the same layers, in another order:

- Each distinct value of a column is embedded, and multiplied with its column's part of
  Maxout's weights, once per batch.
- The products are summed for each distinct token (`W x = W₁ x₁ + … + W_c x_c`), whose
  maximum and layer normalization are computed once.
- The backward pass first sums the gradients of copies, in the same two steps.

In prediction, tables are folded: see `folding.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.distinct import find_distinct
from ..kernels.mixing import finish_in_training
from ..threads import one_thread
from . import gpuembed
from .codecache import sum_products
from .column import Array
from .folding import Fold, predict
from .maxout import draw_mask, inc_maxout_grads, lay_out
from .mixer import Mixer


def forward(
    mixer: Mixer, plan: Fold, keys: Any, is_train: bool
) -> tuple[Array, Callable[[Array], None]]:
    """Embed tokens by their keys. `mixer.can_embed()` must be true.

    Keys are in CPU memory, in the order of the mixer's columns.
    *Shapes:* `(n, columns)`, uint64, n > 0, to `(n, nO)`, float32.
    """
    if is_train or mixer.is_on_gpu:
        mixer.check()
    if is_train:
        for i, column in enumerate(mixer.columns):
            if column.replaces_keys:
                keys[:, i] = column.replace_keys(keys[:, i])
    if mixer.is_on_gpu:
        return gpuembed.mix(mixer.columns, mixer.layers, keys, is_train)
    if not is_train:
        return predict(mixer, plan.get(mixer), keys), lambda dY: None
    plan.invalidate(mixer)
    with one_thread():
        Y, backprop_tokens = begin_update(mixer, keys)

    def backprop(dY: Array) -> None:
        with one_thread():
            backprop_tokens(np.ascontiguousarray(dY, dtype="float32"))

    return Y, backprop


def begin_update(mixer: Mixer, keys: NDArray) -> tuple[NDArray, Callable]:
    maxout, layernorm, dropout = mixer.layers
    tokens = find_distinct(keys)
    W, norm = lay_out(maxout, layernorm)
    values = [find_distinct(keys) for keys in tokens.values.T]
    pairs = zip(mixer.columns, values, strict=True)
    embedded = [column.embed(distinct.values, True) for column, distinct in pairs]
    parts = mixer.split_columns(W)
    products = [X @ part.T for (X, _), part in zip(embedded, parts, strict=True)]
    mixed = sum_products(products, values)
    Y, backprop_mixed = finish_in_training(mixed, norm)
    Y = tokens.gather(Y)
    # independent dropout for copies of a token
    mask = None if dropout is None else draw_mask(dropout, Y.shape)

    def backprop(dY: NDArray) -> None:
        dY = tokens.scatter_add(dY if mask is None else dY * mask)
        d_norm = norm.make_zeros()
        d_mixed = backprop_mixed(dY, d_norm)
        dW = np.empty_like(W)
        columns = zip(values, embedded, parts, mixer.split_columns(dW), strict=True)
        for distinct, (X, backprop_column), part, d_part in columns:
            d_product = distinct.scatter_add(d_mixed)
            np.matmul(d_product.T, X, out=d_part)
            backprop_column(d_product @ part)
        inc_maxout_grads(maxout, layernorm, dW, d_norm)

    return Y if mask is None else Y * mask, backprop
