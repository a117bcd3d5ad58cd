"""A convolution with Maxout, layer normalisation and a residual connection.

What spaCy's `residual(chain(expand_window(), Maxout(..., normalize=True)))` computes,
by the same layers and with their parameters, but a block of rows at a time: windows,
products and maxima of a block are in the processor's cache when they are needed next.
And of the rows of padding around each Doc, a convolution computes only those that the
convolutions after it still see.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

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
from ..kernels.windows import add_windows, copy_windows, find_rows, split_blocks
from .checks import check_integer, check_maxout
from .dropout import draw_mask
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


class Rows(NamedTuple):
    """The rows that a convolution computes.

    inputs (NDArray): Where they are among the rows that the one before has computed.
    padded (NDArray): Where they are among all rows, of which each is dropped or kept.
    n_padded (int): How many all rows are.
    """

    inputs: NDArray
    padded: NDArray
    n_padded: int


def lay_rows(
    layers: Sequence[Convolution], lengths: NDArray, pad: int
) -> Iterator[Rows]:
    """Say which rows each convolution computes: what those after it see.

    layers (Sequence[Convolution]): All convolutions, the first one first.
    lengths (NDArray): The tokens of each Doc that has any.
    pad (int): The rows of zeros between two Docs, and at both ends.
    YIELDS (Rows): For each convolution. The last one computes tokens only.
    """
    n_padded = int(lengths.sum()) + (len(lengths) + 1) * pad
    places = np.arange(n_padded)
    margin = sum(layer.window_size for layer in layers)
    for layer in layers:
        margin -= layer.window_size
        padded = find_rows(lengths, pad, margin)
        yield Rows(places[padded], padded, n_padded)
        places[padded] = np.arange(len(padded))


def predict(layers: Convolution, X: NDArray, rows: Rows) -> NDArray:
    """Mix rows with their neighbours, and add the row itself.

    layers (Convolution): Layers whose weights are checked.
    X (NDArray): What the convolution before has computed. *Shape:* `(n, width)`,
        float32.
    rows (Rows): Those that this one computes.
    RETURNS (NDArray): *Shape:* `(rows, width)`, float32.
    """
    # as they lie: a copy of them takes longer than the products of a short text
    W, b = peek(layers.maxout, "W"), peek(layers.maxout, "b")
    nO, nP, nI = W.shape
    W, b = W.reshape(nO * nP, nI), b.reshape(nO * nP)
    G, shift = peek(layers.layernorm, "G"), peek(layers.layernorm, "b")
    Y = X.take(rows.inputs, axis=0)
    for block in split_blocks(len(Y)):
        mixed = copy_windows(X, rows.inputs[block], layers.window_size) @ W.T
        mixed += b
        best = maximum(mixed.reshape(-1, nO, nP).transpose(0, 2, 1))
        Y[block] += normalize(best, G, shift)
    return Y


def begin_update(
    layers: Convolution, X: NDArray, rows: Rows
) -> tuple[NDArray, Callable[[NDArray], NDArray]]:
    """Do the same as `predict` in training, with dropout before the row is added.

    RETURNS (tuple): The output, and what takes its gradient back to the parameters and
        to the input.
    """
    W, b = pieces_first(peek(layers.maxout, "W"), peek(layers.maxout, "b"))
    G, shift = peek(layers.layernorm, "G"), peek(layers.layernorm, "b")
    size = layers.window_size
    Y = np.empty((len(rows.inputs), X.shape[1]), dtype=X.dtype)
    steps = []
    for block in split_blocks(len(Y)):
        mixed = copy_windows(X, rows.inputs[block], size) @ W.T
        mixed += b
        best, backprop_maximum = begin_maximum(mixed.reshape(layers.shape))
        Y[block], backprop_norm = begin_normalize(best, G, shift)
        steps.append((block, backprop_maximum, backprop_norm))
    mask = draw_mask(layers.dropout, (rows.n_padded, Y.shape[1]))
    if mask is not None:
        mask = mask[rows.padded]
        Y *= mask
    Y += X[rows.inputs]

    def backprop(d_output: NDArray) -> NDArray:
        dY = d_output if mask is None else d_output * mask
        dX = np.zeros_like(X)
        dX[rows.inputs] = d_output
        dW, db = np.zeros_like(W), np.zeros_like(b)
        dG, d_shift = np.zeros_like(G), np.zeros_like(shift)
        for block, backprop_maximum, backprop_norm in steps:
            d_best, dG_block, d_shift_block = backprop_norm(dY[block])
            d_mixed = backprop_maximum(d_best).reshape(-1, len(b))
            dG += dG_block
            d_shift += d_shift_block
            db += d_mixed.sum(axis=0)
            inputs = rows.inputs[block]
            dW += d_mixed.T @ copy_windows(X, inputs, size)
            add_windows(dX, inputs, size, d_mixed @ W)
        inc_maxout_grads(layers.maxout, dW, db)
        inc_grad(layers.layernorm, "G", dG)
        inc_grad(layers.layernorm, "b", d_shift)
        return dX

    return Y, backprop
