"""Helpers for fast paths that replace Thinc's `Maxout(..., normalize=True)`."""

import math
from typing import Any, cast

import numpy as np
from numpy.random import SFC64
from numpy.typing import NDArray
from thinc.api import Model, Ops

from ..kernels.mixing import Norm
from .checks import REMEDY, check_once, check_params, peek


def check_maxout(maxout: Model, layernorm: Model, *, nI: int) -> None:
    """Check weights after they were set, and the sizes of the layers."""
    nO = maxout.get_dim("nO")
    if maxout.get_dim("nI") != nI or layernorm.get_dim("nO") != nO:
        raise ValueError(
            f"The layers '{maxout.name}' and '{layernorm.name}' should have {nI} "
            f"inputs, and equal outputs, but have {maxout.get_dim('nI')} inputs, and "
            f"{nO} and {layernorm.get_dim('nO')} outputs. {REMEDY}"
        )
    nP = maxout.get_dim("nP")
    shapes = {"W": (nO, nP, nI), "b": (nO, nP)}
    check_once(maxout, lambda _: check_params(maxout, shapes))
    check_once(layernorm, lambda _: check_params(layernorm, {"G": (nO,), "b": (nO,)}))


def lay_out(maxout: Model, layernorm: Model) -> tuple[NDArray, Norm]:
    """Copy checked weights to the layout of kernels.

    Maxout's weights get the shape `(nP * nO, nI)`, grouped by piece. Its bias is part
    of the `Norm`.
    """
    # copy even with one piece: optimizers change the weights in place
    W = peek(maxout, "W").transpose(1, 0, 2).copy()
    b = peek(maxout, "b").T.copy().reshape(-1)
    norm = Norm(b, peek(layernorm, "G").copy(), peek(layernorm, "b").copy())
    return W.reshape(len(b), -1), norm


def inc_maxout_grads(
    maxout: Model, layernorm: Model, dW: NDArray, d_norm: Norm
) -> None:
    """Add gradients in the layout of `lay_out` to the layers' gradients."""
    nO, nP = maxout.get_dim("nO"), maxout.get_dim("nP")
    bias, scale, shift = cast(Any, d_norm)
    maxout.inc_grad("W", cast(Any, dW).reshape(nP, nO, -1).transpose(1, 0, 2))
    maxout.inc_grad("b", bias.reshape(nP, nO).T)
    layernorm.inc_grad("G", scale)
    layernorm.inc_grad("b", shift)


def draw_mask(dropout: Model, shape: tuple[int, ...]) -> NDArray | None:
    """Draw the mask of a Dropout layer for one training batch on the CPU.

    Each number is 0 with the layer's rate, rounded to 16 bits, and `1 / (1 - rate)`
    otherwise. The generator is several times faster than Thinc's and is seeded by
    numpy's global generator, for reproducibility with `fix_random_seed`. An override of
    `get_dropout_mask` in the ops is respected.

    RETURNS (NDArray, optional): float32, of the given shape, or None if the rate is 0.
    """
    rate, ops = dropout.attrs["dropout_rate"], dropout.ops
    if rate == 0 or not dropout.attrs["is_enabled"]:
        return None
    is_thincs = type(ops).get_dropout_mask is Ops.get_dropout_mask
    if not is_thincs or not 0 < rate < 1:
        return cast(NDArray, ops.get_dropout_mask(shape, rate))
    n = math.prod(shape)
    drawn = SFC64(np.random.randint(2**63)).random_raw(-(-n // 4)).view("uint16")
    kept = drawn[:n] >= np.uint16(min(round(rate * 2**16), 2**16 - 1))
    return np.multiply(kept, np.float32(1 / (1 - rate))).reshape(shape)
