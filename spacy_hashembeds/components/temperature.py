"""One number that makes probabilities of tags as sure as they are right."""

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import quote

#: Far beyond what trained pipelines have.
_LEAST, _MOST = 1 / 20, 20.0


def check_temperature(temperature: Any) -> None:
    """Check that log-probabilities can be divided by a number."""
    is_number = isinstance(temperature, int | float)
    if not is_number or isinstance(temperature, bool) or not 0 < temperature < inf:
        raise ValueError(
            "'temperature' should be a number above 0, as `calibrate_ner` sets it, or "
            f"1, but is {quote(temperature)}."
        )


def apply_temperature(scores: NDArray, temperature: float) -> NDArray:
    """Divide log-probabilities, and normalise them again; by 1, give back the same.

    Above 1 they get closer to each other, and below farther apart. Their order stays,
    and of sequences of tags too: of each token all are divided by the same number, and
    lose the same. *Shape:* `(n, tags)`.
    """
    if temperature == 1:
        return scores
    scores = scores / temperature
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def fit_temperature(scores: NDArray, truth: NDArray) -> float:
    """Find the temperature, 1/20 to 20, under which tags are the most likely to be
    `truth`, `(n,)`, given their log-probabilities, `(n, tags)`.

    The negative log-likelihood is convex in 1 / T. Its slope there is the sum over
    tokens of the mean score less that of the right tag, and its curvature that of the
    scores' variances. So this is Newton's method, between bounds that close in.

    Source: Guo et al., "On Calibration of Modern Neural Networks" (2017), §4.2.
    """
    scores = scores.astype("float64")
    right = scores[np.arange(len(truth)), truth]
    low, high, inverse = 1 / _MOST, 1 / _LEAST, 1.0
    for _ in range(50):
        probs = np.exp(apply_temperature(scores, 1 / inverse))
        means = (probs * scores).sum(axis=1)
        slope = (means - right).sum()
        curvature = (probs * np.square(scores - means[:, np.newaxis])).sum()
        low, high = (low, inverse) if slope > 0 else (inverse, high)
        last, inverse = inverse, inverse - slope / max(curvature, 1e-300)
        if not low <= inverse <= high:
            inverse = np.sqrt(low * high)
        if abs(inverse - last) <= 1e-9 * last:
            break
    return float(1 / inverse)
