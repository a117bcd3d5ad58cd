"""Convolutions with Maxout, layer normalization and a residual connection.

With the same layers, this computes the same as spaCy's
`residual(chain(expand_window(), Maxout(..., normalize=True)))`, in blocks of rows that
fit into the processor's cache. A convolution computes only those padding rows around
Docs that later ones read. In float32 prediction, the first one multiplies equal
embeddings only once per block.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ..kernels import compiled
from ..kernels.convolution import Packed, add_convolved, find_instructions, pack
from ..kernels.distinct import find_equal_rows
from ..kernels.mixing import Norm, add_finished, finish_in_training
from ..kernels.rows import gather_add
from ..kernels.windows import BLOCK, add_windows, copy_windows, find_window_rows
from .maxout import check_maxout, draw_mask, inc_maxout_grads, lay_out
from .plan import Plan

#: Rows per block that shares products, so that these fit into the processor's cache.
SHARING = 2048

#: Minimum number of rows, and maximum share of distinct rows, for sharing products to
#: be faster.
FEW_ROWS, MAX_DISTINCT = 512, 0.6

#: True while this context predicts in float32, whatever the precision.
IN_FLOAT32: ContextVar[bool] = ContextVar("IN_FLOAT32", default=False)

#: Product of the windows of rows with Maxout's weights. *Shape:* `(m,)` to
#: `(m, nP * nO)`.
Multiply = Callable[[NDArray], NDArray]


class Convolution(NamedTuple):
    """Number of neighbors on either side, and layers. Maxout's input is a window."""

    window_size: int
    maxout: Model
    layernorm: Model
    dropout: Model


class Convolutions(list[Convolution]):
    """Stacked convolutions."""

    def __init__(self, convolutions: Iterable[Convolution]) -> None:
        super().__init__(convolutions)
        self.models = [model for c in self for model in (c.maxout, c.layernorm)]

    def check(self) -> None:
        """Check weights when they are set or loaded."""
        for size, maxout, layernorm, _ in self:
            check_maxout(maxout, layernorm, nI=(2 * size + 1) * maxout.get_dim("nO"))


class LaidOut(NamedTuple):
    """Maxout's weights, `(nP * nO, nI)`, in the layout of `lay_out`. The first
    convolution, which may share products, has packed weights too.
    """

    W: NDArray
    norm: Norm
    window_size: int
    packed: Packed | None = None


class EncoderPlan(Plan[Convolutions, Sequence[LaidOut | Packed]]):
    """Plan of an encoder: its weights in the layout for a precision."""

    def __init__(self, precision: str = "float32") -> None:
        super().__init__()
        self.precision = precision

    def __reduce__(self) -> tuple:
        return type(self), (self.precision,)

    def get(self, convolutions: Convolutions) -> Sequence[LaidOut | Packed]:
        """Get the checked weights of each convolution."""
        precision = "float32" if IN_FLOAT32.get() else self.precision

        def compute() -> Sequence[LaidOut | Packed]:
            convolutions.check()
            weights = map(lay_out_convolution, convolutions)
            instructions = find_instructions(precision)
            if instructions is None:
                return list(weights)
            # one at a time, to reuse memory
            first = next(weights)
            packed = pack(first.W, first.norm, instructions)
            is_shared = precision == "float32"
            return [
                first._replace(packed=packed) if is_shared else packed,
                *(pack(each.W, each.norm, instructions) for each in weights),
            ]

        key = precision, compiled.kernels
        return self.get_or_compute(convolutions.models, compute, key) or compute()


def lay_out_convolution(layers: Convolution) -> LaidOut:
    return LaidOut(*lay_out(layers.maxout, layers.layernorm), layers.window_size)


class Rows(NamedTuple):
    """Rows that a convolution computes.

    inputs: Their indices among the rows of the previous convolution.
    padded: Their indices among all `n_padded` rows, for which dropout is drawn.
    """

    inputs: NDArray
    padded: NDArray
    n_padded: int


def lay_rows(
    convolutions: Sequence[Convolution], lengths: NDArray, pad: int
) -> Iterator[Rows]:
    """Yield the rows that each convolution computes: those that later ones read.

    There are `pad` rows of zeros between and around Docs, which are not empty.
    """
    n_padded = int(lengths.sum()) + (len(lengths) + 1) * pad
    places = np.arange(n_padded)
    margin = sum([layers.window_size for layers in convolutions])
    first = 0
    for layers in convolutions:
        margin -= layers.window_size
        padded = find_window_rows(lengths, pad, margin)
        if len(lengths) == 1:  # the rows are contiguous
            yield Rows(padded - first, padded, n_padded)
            first = pad - margin
            continue
        yield Rows(places[padded], padded, n_padded)
        places[padded] = np.arange(len(padded))


def predict(
    weights: Sequence[LaidOut | Packed], X: NDArray, rows: Iterable[Rows]
) -> NDArray:
    predict_rows = _predict_sharing  # only the first convolution has many equal rows
    for layer_weights, computed in zip(weights, rows, strict=True):
        Y = X.take(computed.inputs, axis=0)
        if isinstance(layer_weights, Packed):
            add_convolved(layer_weights, X, computed.inputs, Y)
        else:
            predict_rows(layer_weights, X, computed.inputs, Y)
        X, predict_rows = Y, _predict_rows
    return X


def _predict_sharing(weights: LaidOut, X: NDArray, rows: NDArray, Y: NDArray) -> None:
    """Run `_predict_rows`, multiplying equal rows once if that is faster."""
    size = weights.window_size
    for start in range(0, len(rows), SHARING):
        part = rows[start : start + SHARING]
        first = part[0] - size
        inputs, part = X[first : part[-1] + size + 1], part - first
        multiply = share_products(weights, inputs, len(part))
        _predict_rows(weights, inputs, part, Y[start : start + SHARING], multiply)


def _predict_rows(
    weights: LaidOut,
    X: NDArray,
    rows: NDArray,
    Y: NDArray,
    multiply: Multiply | None = None,
) -> None:
    """Add the output of a convolution for rows to Y. *Shape:* `(rows, width)`."""
    W, norm, size, packed = weights
    if multiply is None and packed is not None:
        add_convolved(packed, X, rows, Y)
        return
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        if multiply is None:
            mixed: NDArray = copy_windows(X, part, size) @ W.T
        else:
            mixed = multiply(part)
        add_finished(mixed, norm, Y[start : start + BLOCK])


def share_products(weights: LaidOut, X: NDArray, n_computed: int) -> Multiply | None:
    """Multiply distinct rows with the weights of each place in a window, if faster."""
    if n_computed < FEW_ROWS:
        return None
    distinct = find_equal_rows(X, most=int(MAX_DISTINCT * n_computed))
    if distinct is None:
        return None
    width, n_neighbors = X.shape[1], 2 * weights.window_size + 1
    by_neighbor = weights.W.reshape(-1, n_neighbors, width).transpose(1, 0, 2)
    # the product of a window is the sum of the products of its rows
    products = distinct.values @ by_neighbor.reshape(-1, width).T
    products = products.reshape(-1, len(weights.W))
    places = np.arange(n_neighbors, dtype="int32")
    starts = distinct.copies * np.int32(n_neighbors)

    def multiply(rows: NDArray) -> NDArray:
        neighbors = rows[:, None] + (places - weights.window_size)
        return gather_add(products, starts[neighbors] + places)

    return multiply


def begin_update(
    layers: Convolution, X: NDArray, rows: Rows
) -> tuple[NDArray, Callable[[NDArray], NDArray]]:
    """Run one convolution in training, with dropout before the residual connection.

    X is the previous convolution's output, `(n, width)`. Weights are not checked.
    """
    size, maxout, layernorm, dropout = layers
    W, norm = lay_out(maxout, layernorm)
    Y = np.empty((len(rows.inputs), len(norm.scale)), dtype=X.dtype)
    steps = []
    for start in range(0, len(Y), BLOCK):
        block = slice(start, start + BLOCK)
        mixed = copy_windows(X, rows.inputs[block], size) @ W.T
        Y[block], backprop_block = finish_in_training(mixed, norm)
        steps.append((block, backprop_block))
    mask = draw_mask(dropout, (rows.n_padded, len(norm.scale)))
    if mask is not None:
        mask = mask[rows.padded]
        Y *= mask
    Y += X[rows.inputs]

    def backprop(d_output: NDArray) -> NDArray:
        dY = d_output if mask is None else d_output * mask
        dX = np.zeros_like(X)
        dX[rows.inputs] = d_output
        dW, d_norm = np.zeros_like(W), norm.make_zeros()
        for block, backprop_block in steps:
            d_mixed = backprop_block(dY[block], d_norm)
            inputs = rows.inputs[block]
            dW += d_mixed.T @ copy_windows(X, inputs, size)
            add_windows(dX, inputs, size, d_mixed @ W)
        inc_maxout_grads(maxout, layernorm, dW, d_norm)
        return dX

    return Y, backprop
