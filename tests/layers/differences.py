"""Gradients by finite differences."""

from collections.abc import Callable

import numpy as np


def differentiate(
    loss: Callable[[], float],
    values: np.ndarray,
    *,
    step: float,
    places: np.ndarray | None = None,
) -> np.ndarray:
    """Differentiate a loss by values, where `places` is true, changing them in place. A
    large step is exact for a loss that is linear in each value.
    """
    gradient = np.zeros(values.shape)
    places = np.ones(values.shape, dtype=bool) if places is None else places
    for index in zip(*places.nonzero(), strict=True):
        original, losses = values[index], []
        for sign in (1, -1):
            values[index] = original + sign * step
            losses.append(loss())
        values[index] = original
        gradient[index] = (losses[0] - losses[1]) / (2 * step)
    return gradient
