"""Maxout and layer normalization.

Thinc's layout of Maxout's products is `(n, nO, nP)`. Here it is `(n, nP, nO)`, so that
the maximum is taken over long rows. Arrays are contiguous; compiled kernels require
float32.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import compiled

EPSILON = 1e-8  # Thinc's

#: Maximum number of pieces for training by compiled kernels.
MAX_PIECES = 256


class Norm(NamedTuple):
    """Maxout's bias and the parameters of layer normalization, or their gradients.

    *Shapes:* the bias, `(nP * nO,)`, with pieces as the outer dimension; others
    `(nO,)`.
    """

    bias: NDArray
    scale: NDArray
    shift: NDArray

    def make_zeros(self) -> "Norm":
        """Make zero gradients."""
        return Norm(*map(np.zeros_like, self))


#: Backward pass: adds to the norm's gradients, and returns the products' gradient.
Backprop = Callable[[NDArray, Norm], NDArray]


def finish(mixed: NDArray, norm: Norm) -> NDArray:
    """Add the bias, take the maximum of the pieces, and normalize.

    The products are overwritten. *Shape:* `(n, nP * nO)` to `(n, nO)`.
    """
    if compiled.kernels is None:
        return _begin_in_numpy(mixed, norm)[0]
    Y = np.empty((len(mixed), len(norm.scale)), dtype="float32")
    compiled.kernels.finish_rows(Y, mixed, norm, False)
    return Y


def add_finished(mixed: NDArray, norm: Norm, Y: NDArray) -> None:
    """Add the result of `finish` to Y. *Shape:* `(n, nO)`."""
    if compiled.kernels is None:
        Y += _begin_in_numpy(mixed, norm)[0]
    else:
        compiled.kernels.finish_rows(Y, mixed, norm, True)


def finish_in_training(mixed: NDArray, norm: Norm) -> tuple[NDArray, Backprop]:
    """Run `finish` in training. The backward pass keeps a reference to the norm."""
    kernels = compiled.kernels
    if kernels is None or len(norm.bias) > MAX_PIECES * len(norm.scale):
        return _begin_in_numpy(mixed, norm)
    Y = np.empty((len(mixed), len(norm.scale)), dtype="float32")
    saved = kernels.begin_rows(Y, mixed, norm)

    def backprop(dY: NDArray, gradients: Norm) -> NDArray:
        return kernels.backprop_rows(dY, *saved, norm, gradients)

    return Y, backprop


def _begin_in_numpy(mixed: NDArray, norm: Norm) -> tuple[NDArray, Backprop]:
    mixed += norm.bias
    pieces = mixed.reshape(len(mixed), -1, len(norm.scale))
    best, backprop_maximum = _begin_maximum(pieces)
    Y, backprop_norm = _begin_normalize(best, norm)

    def backprop(dY: NDArray, gradients: Norm) -> NDArray:
        d_best = backprop_norm(dY, gradients)
        d_mixed = backprop_maximum(d_best).reshape(mixed.shape)
        gradients.bias[...] += d_mixed.sum(axis=0)
        return d_mixed

    return Y, backprop


def _begin_maximum(Y: NDArray) -> tuple[NDArray, Callable[[NDArray], NDArray]]:
    """Take the maximum of the pieces. *Shape:* `(n, nP, nO)` to `(n, nO)`."""
    best = Y[:, 0].copy()
    for piece in range(1, Y.shape[1]):
        np.maximum(best, Y[:, piece], out=best)

    def backprop(d_best: NDArray) -> NDArray:
        dY = np.empty_like(Y)
        is_free = np.ones(best.shape, dtype=bool)  # the first of equal pieces counts
        for piece in range(Y.shape[1]):
            is_best = (Y[:, piece] == best) & is_free
            np.multiply(d_best, is_best, out=dY[:, piece])
            is_free &= ~is_best
        return dY

    return best, backprop


def _begin_normalize(X: NDArray, norm: Norm) -> tuple[NDArray, Backprop]:
    """Apply layer normalization to the rows of X."""
    Xhat = X - _mean_rows(X)
    variance = np.vecdot(Xhat, Xhat)[:, None]
    variance /= X.shape[1]
    variance += EPSILON
    inverse_deviation = 1 / np.sqrt(variance)
    Xhat *= inverse_deviation

    def backprop(dY: NDArray, gradients: Norm) -> NDArray:
        gradients.scale[...] += np.einsum("ij,ij->j", dY, Xhat)
        gradients.shift[...] += dY.sum(axis=0)
        dXhat = dY * norm.scale
        slope = np.vecdot(dXhat, Xhat)[:, None] / X.shape[1]
        dX = dXhat - _mean_rows(dXhat)
        dX -= Xhat * slope
        dX *= inverse_deviation
        return dX

    Y = Xhat * norm.scale
    Y += norm.shift
    return Y, backprop


def _mean_rows(X: NDArray) -> NDArray:
    """Average rows by a matrix product, which is several times faster than `mean`."""
    return (X @ _get_shares(X.shape[1], X.dtype.char))[:, None]


@lru_cache(maxsize=16)
def _get_shares(n: int, dtype: str) -> NDArray:
    return np.full(n, 1 / n, dtype=dtype)
