"""numpy's Mersenne Twister, which compiled kernels read where it lies in memory."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import MT19937
from numpy.typing import NDArray

_N_WORDS = 624

_random: Any = np.random  # whose types lack a function


@contextmanager
def holding_state() -> Iterator[NDArray | None]:
    """Hold the state of numpy's global generator, for nobody else to draw meanwhile.

    YIELDS (NDArray, optional): Its words, and after these how many are used up, to be
        read and written. *Shape:* `(625,)`, uint32. None if it is another kind of
        generator, or lies otherwise in memory.
    """
    generator = _random.get_bit_generator()
    with generator.lock:
        state = _find_state(generator)
        # whatever somebody has set is numpy's to make sense of
        yield state if state is not None and state[-1] <= _N_WORDS else None


@lru_cache(maxsize=1)
def _find_state(generator: Any) -> NDArray | None:
    """Find the state of a generator in memory, where numpy's C code has it too."""
    if type(generator) is not MT19937:
        return None
    words = (ctypes.c_uint32 * (_N_WORDS + 1)).from_address(
        generator.ctypes.state_address
    )
    found: NDArray = np.ctypeslib.as_array(words)
    state = generator.state["state"]
    is_there = np.array_equal(found[:-1], state["key"]) and found[-1] == state["pos"]
    return found if is_there else None
