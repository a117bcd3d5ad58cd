"""Masks of dropout, drawn from the state of numpy's generator in memory."""

import ctypes
import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import MT19937
from numpy.typing import NDArray

from . import compiled

_N_WORDS = 624

_random: Any = np.random  # whose types lack a function


def draw_mask(n: int, rate: float) -> NDArray | None:
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
