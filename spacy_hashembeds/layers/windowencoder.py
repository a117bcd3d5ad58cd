"""A convolution with Maxout, layer normalisation and a residual connection.

What spaCy's `residual(chain(expand_window(), Maxout(..., normalize=True)))` computes,
by the same layers and with their parameters, but a block of rows at a time: windows,
products and maxima of a block are in the processor's cache when they are needed next.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.mixing import (
    begin_maximum,
    begin_normalize,
    maximum,
    normalize,
    pieces_first,
)
from ..kernels.windows import copy_windows, pad_rows, split_blocks, sum_windows
from .checks import check_integer, check_maxout
from .gradients import inc_grad, inc_maxout_grads
from .watch import check_once, peek


class Convolution(NamedTuple):
    """The layers of one convolution.

    window (Model): Thinc's expand_window.
    maxout (Model): Thinc's Maxout, over a row and its neighbours.
    layernorm (Model): Thinc's LayerNorm.
    dropout (Model): Thinc's Dropout.
    """

    window: Model
    maxout: Model
    layernorm: Model
    dropout: Model

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a block's products, with the pieces outside."""
        return -1, self.maxout.get_dim("nP"), self.maxout.get_dim("nO")

    @property
    def window_size(self) -> int:
        """Neighbours on either side."""
        return self.window.attrs["window_size"]

    def check(self) -> None:
        """Check weights and attributes once they arrive.

        RAISES (ValueError): If they can't be the layers'.
        """
        size = self.window_size
        check_once(self.window, _check_window, size)
        n_inputs = (2 * size + 1) * self.maxout.get_dim("nO")
        check_maxout(self.maxout, self.layernorm, nI=n_inputs)


def _check_window(window: Model) -> None:
    check_integer(window, "window_size", 0, 2**31)


def predict(layers: Convolution, X: NDArray) -> NDArray:
    """Mix each row with its neighbours, and add the row itself.

    layers (Convolution): Layers whose weights are checked.
    X (NDArray): *Shape:* `(n, width)`, float32.
    RETURNS (NDArray): *Shape:* `(n, width)`, float32.
    """
    # as they lie: a copy of them takes longer than the products of a short text
    W, b = peek(layers.maxout, "W"), peek(layers.maxout, "b")
    nO, nP, nI = W.shape
    W, b = W.reshape(nO * nP, nI), b.reshape(nO * nP)
    G, shift = peek(layers.layernorm, "G"), peek(layers.layernorm, "b")
    padded = pad_rows(X, layers.window_size)
    Y = np.empty_like(X)
    for block in split_blocks(len(X)):
        mixed = copy_windows(padded, layers.window_size, block) @ W.T
        mixed += b
        best = maximum(mixed.reshape(-1, nO, nP).transpose(0, 2, 1))
        np.add(normalize(best, G, shift), X[block], out=Y[block])
    return Y


def begin_update(
    layers: Convolution, X: NDArray
) -> tuple[NDArray, Callable[[NDArray], NDArray]]:
    """Do the same as `predict` in training, with dropout before the row is added.

    RETURNS (tuple): The output, and what takes its gradient back to the parameters and
        to the input.
    """
    W, b = pieces_first(peek(layers.maxout, "W"), peek(layers.maxout, "b"))
    G, shift = peek(layers.layernorm, "G"), peek(layers.layernorm, "b")
    size = layers.window_size
    padded = pad_rows(X, size)
    Y = np.empty_like(X)
    steps = []
    for block in split_blocks(len(X)):
        mixed = copy_windows(padded, size, block) @ W.T
        mixed += b
        best, backprop_maximum = begin_maximum(mixed.reshape(layers.shape))
        Y[block], backprop_norm = begin_normalize(best, G, shift)
        steps.append((block, backprop_maximum, backprop_norm))
    dropped, backprop_dropout = cast(Any, layers.dropout(cast(Any, Y), is_train=True))

    def backprop(d_output: NDArray) -> NDArray:
        dY = backprop_dropout(d_output)
        d_windows = np.empty((len(dY), W.shape[1]), dtype=dY.dtype)
        dW, db = np.zeros_like(W), np.zeros_like(b)
        dG, d_shift = np.zeros_like(G), np.zeros_like(shift)
        for block, backprop_maximum, backprop_norm in steps:
            d_best, dG_block, d_shift_block = backprop_norm(dY[block])
            d_mixed = backprop_maximum(d_best).reshape(-1, len(b))
            dG += dG_block
            d_shift += d_shift_block
            db += d_mixed.sum(axis=0)
            dW += d_mixed.T @ copy_windows(padded, size, block)
            np.matmul(d_mixed, W, out=d_windows[block])
        inc_maxout_grads(layers.maxout, dW, db)
        inc_grad(layers.layernorm, "G", dG)
        inc_grad(layers.layernorm, "b", d_shift)
        return d_output + sum_windows(d_windows, size)

    return X + dropped, backprop
