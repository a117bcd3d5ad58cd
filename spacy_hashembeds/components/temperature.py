"""One number that makes probabilities of tags as sure as they are right."""

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import quote


def check_temperature(temperature: Any) -> None:
    """Check that log-probabilities can be divided by a number."""
    if type(temperature) not in (int, float) or not 0 < temperature < inf:
        raise ValueError(
            f"'temperature' should be a number above 0, but is {quote(temperature)}."
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
    low, high = 1 / 20, 20.0
    for _ in range(24):
        inverse = float(np.sqrt(low * high))
        probs = np.exp(apply_temperature(scores, 1 / inverse))
        slope = ((probs * scores).sum(axis=1) - right).sum(dtype="float64")
        low, high = (low, inverse) if slope > 0 else (inverse, high)
    return 1 / inverse
