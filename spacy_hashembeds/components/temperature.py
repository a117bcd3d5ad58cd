"""One number that makes probabilities of tags as sure as they are right."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import quote

#: No trained pipeline is less sure than it should be, or surer, by such a factor.
_LEAST, _MOST = 1 / 20, 20.0


def check_temperature(temperature: Any) -> None:
    """Check that log-probabilities can be divided by a number."""
    is_number = type(temperature) in (int, float)
    if not is_number or not _LEAST <= temperature <= _MOST:
        raise ValueError(
            f"'temperature' should be a number from {_LEAST} to {_MOST:g}, but is "
            f"{quote(temperature)}."
        )


def apply_temperature(scores: NDArray, temperature: float) -> NDArray:
    """Divide log-probabilities, `(n, tags)`, and normalise them again; by 1, give back
    the same. Above 1 the tags of a token get closer to each other, below farther apart.
    Their order stays, and that of sequences of tags.
    """
    if temperature == 1:
        return scores
    scores = scores / temperature
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def fit_temperature(scores: NDArray, truth: NDArray) -> float:
    """Find the temperature T, 1/20 to 20, under which tags are the most likely to be
    `truth`, `(n,)`. Their negative log-likelihood is convex in 1 / T: half of what is
    left goes by its slope there, the mean score of a token less that of the right tag.

    Source: Guo et al., "On Calibration of Modern Neural Networks" (2017), §4.2.
    """
    right = scores[np.arange(len(truth)), truth]
    low, high = 1 / _MOST, 1 / _LEAST
    for _ in range(24):
        inverse = float(np.sqrt(low * high))
        probs = np.exp(apply_temperature(scores, 1 / inverse))
        slope = ((probs * scores).sum(axis=1) - right).sum(dtype="float64")
        low, high = (low, inverse) if slope > 0 else (inverse, high)
    return 1 / inverse
