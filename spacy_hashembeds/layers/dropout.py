"""Dropout masks, as Thinc's Dropout draws them, drawn faster."""

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, Ops

from ..kernels import masks


def draw_mask(dropout: Model, shape: tuple[int, ...]) -> NDArray | None:
    """Draw what a Dropout layer on the CPU multiplies numbers with in training.

    The very one of Thinc's, with as many numbers taken from the generator: 0 where
    something is dropped, else `1 / (1 - rate)`, float32. None if nothing is.
    """
    rate, ops = dropout.attrs["dropout_rate"], dropout.ops
    if rate == 0 or not dropout.attrs["is_enabled"]:
        return None
    is_thincs = type(ops).get_dropout_mask is Ops.get_dropout_mask
    if not is_thincs or not 0 < rate < 1:
        return cast(NDArray, ops.get_dropout_mask(shape, rate))
    mask = masks.draw_mask(math.prod(shape), rate)
    if mask is not None:
        return mask.reshape(shape)
    kept = np.random.random_sample(shape) >= rate
    return np.multiply(kept, np.float32(1 / (1 - rate)))
