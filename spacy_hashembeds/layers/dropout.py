"""Dropout masks, as Thinc's Dropout draws them, drawn faster."""

import ctypes
import math
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.random import MT19937
from numpy.typing import NDArray
from thinc.api import Model, Ops

from ..kernels import compiled

_N_WORDS = 624

_random: Any = np.random  # whose types lack a function


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
    mask = _draw_as_numpy(math.prod(shape), rate)
    if mask is not None:
        return mask.reshape(shape)
    kept = np.random.random_sample(shape) >= rate
    return np.multiply(kept, np.float32(1 / (1 - rate)))


def _draw_as_numpy(n: int, rate: float) -> NDArray | None:
    """Draw a mask as numpy would, `(random_sample(n) >= rate) / (1 - rate)`, faster.

    *Shape:* `(n,)`, float32, with 0 < rate < 1. None, with nothing drawn, if there are
    no compiled kernels, or numpy's global generator is another than the Mersenne
    Twister, or lies otherwise in memory.
    """
    if compiled.kernels is None or n == 0:
        return None
    generator = _random.get_bit_generator()
    with generator.lock:  # for nobody else to draw meanwhile
        state = _find_state(generator)
        # whatever somebody has set is numpy's to make sense of
        if state is None or state[-1] > _N_WORDS:
            return None
        # numpy draws integers below 2⁵³, and divides them by that
        threshold = math.ceil(float(rate) * 2**53)
        return compiled.kernels.draw_mask(n, threshold, 1 / (1 - rate), state)


@lru_cache(maxsize=1)
def _find_state(generator: Any) -> NDArray | None:
    """Find a generator's state where numpy's C code has it, to be read and written.

    Its words, and after these how many are used up. *Shape:* `(625,)`, uint32.
    """
    if type(generator) is not MT19937:
        return None
    words = (ctypes.c_uint32 * (_N_WORDS + 1)).from_address(
        generator.ctypes.state_address
    )
    found: NDArray = np.ctypeslib.as_array(words)
    state = generator.state["state"]
    is_there = np.array_equal(found[:-1], state["key"]) and found[-1] == state["pos"]
    return found if is_there else None
