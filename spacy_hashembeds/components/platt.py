"""Two numbers that make scores of entities say how often they are right."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import quote

#: A slope, above 0, and an offset: see `calibrate`.
Calibration = tuple[float, float]

#: No trained pipeline is less sure than it should be, or surer, by such a factor.
_LEAST, _MOST = 1 / 20, 20.0
# Float32 tells probabilities of tags from 1 down to some 1e-7.
_LEAST_DOUBT = 1e-6


def check_calibration(calibration: Any) -> None:
    """Check that scores can be calibrated by what a file holds: null is none."""
    if calibration is None:
        return
    is_list = isinstance(calibration, list | tuple) and len(calibration) == 2
    is_right = is_list and all(
        type(number) in (int, float) and isfinite(number) for number in calibration
    )
    if not is_right or not _LEAST <= calibration[0] <= _MOST:
        raise ValueError(
            f"'calibration' should be a slope from {_LEAST} to {_MOST:g} and an offset "
            f"in a list, such as [0.5, -0.7], or null, but is {quote(calibration)}."
        )


def calibrate(log_scores: NDArray, calibration: Calibration | None) -> NDArray:
    """Give scores s, of which these are logarithms, calibrated: the log-odds are the
    slope times -log(1 - s), plus the offset. Their order stays, but for those within a
    millionth of 1. Without a calibration they are s.
    """
    if calibration is None:
        return np.exp(log_scores)
    slope, offset = calibration
    return _get_probs(slope * _get_sureness(log_scores) + offset)


def fit_calibration(scores: NDArray, is_right: NDArray) -> Calibration:
    """Find the slope, 1/20 to 20, and the offset under which entities are the likeliest
    to be right where they are. *Shapes:* `(n,)`, `(n,)`, with a right one and a wrong.

    As one of few says little, who is right is so with the probability that Laplace's
    rule gives to another one, and likewise who is wrong; and the slope is drawn to 1 by
    half its squared distance. The loss is convex: by halves, where its slopes are 0.

    Sources: Platt, "Probabilistic Outputs for Support Vector Machines" (1999), §2; and
    -log(1 - s) of Kull et al., "Beta calibration" (2017), whose log(s) entities have
    little use for: a product of many tags is low where none of them is in doubt.
    """
    with np.errstate(divide="ignore"):  # of 0
        sureness = _get_sureness(np.log(np.asarray(scores, dtype="float64")))
    n_right, n = int(np.sum(is_right)), len(sureness)
    truth = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    low, high = _LEAST, _MOST
    for _ in range(24):
        slope = float(np.sqrt(low * high))
        offset = _fit_offset(slope * sureness, truth)
        excess = _get_probs(slope * sureness + offset) - truth
        is_steep = excess @ sureness + slope - 1 > 0
        low, high = (low, slope) if is_steep else (slope, high)
    return slope, offset


def _fit_offset(odds: NDArray, truth: NDArray) -> float:
    """Find what to add to log-odds, so that their probabilities have the right mean."""
    high = float(np.abs(odds).max()) + float(np.log(len(odds) + 2))
    low = -high
    for _ in range(40):
        offset = (low + high) / 2
        is_much = _get_probs(odds + offset).sum() > truth.sum()
        low, high = (low, offset) if is_much else (offset, high)
    return offset


def _get_sureness(log_scores: NDArray) -> NDArray:
    return -np.log(np.maximum(-np.expm1(log_scores), _LEAST_DOUBT))


def _get_probs(odds: NDArray) -> NDArray:
    return np.exp(-np.logaddexp(0, -odds))
