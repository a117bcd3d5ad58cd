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
    """Differentiate a loss by values, or by those where `places` is true.

    Values are changed in place and restored. If the loss is linear in each value, a
    large step is exact.
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
