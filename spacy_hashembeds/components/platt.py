"""Two numbers that make scores of entities say how often they are right."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files import quote

#: A slope, above 0, and an offset: see `calibrate`.
Calibration = tuple[float, float]

#: What leaves scores as they are.
UNFITTED: Calibration = (1.0, 0.0)

#: No trained pipeline is less sure than it should be, or surer, by such a factor.
_LEAST, _MOST = 1 / 20, 20.0
# Float32 tells probabilities of tags from 1 down to some 1e-7.
_MOST_ODDS = float(np.log(1e6))


def check_calibration(calibration: Any) -> None:
    """Check that scores can be calibrated by what a file holds."""
    is_list = isinstance(calibration, list | tuple) and len(calibration) == 2
    is_right = is_list and all(
        type(number) in (int, float) and isfinite(number) for number in calibration
    )
    if not is_right or not _LEAST <= calibration[0] <= _MOST:
        raise ValueError(
            f"'calibration' should be a slope from {_LEAST} to {_MOST:g} and an offset "
            f"in a list, such as {list(UNFITTED)}, but is {quote(calibration)}."
        )


def calibrate(log_scores: NDArray, calibration: Calibration) -> NDArray:
    """Give scores, of which these are logarithms, with log-odds times the slope plus
    the offset. Their order stays, but for those within a millionth of 0 or 1.
    """
    slope, offset = calibration
    if (slope, offset) == UNFITTED:
        return np.exp(log_scores)
    return _get_probs(slope * _get_log_odds(log_scores) + offset)


def fit_calibration(scores: NDArray, is_right: NDArray) -> Calibration:
    """Find the slope, 1/20 to 20, and the offset under which entities are the likeliest
    to be right where they are. *Shapes:* `(n,)`, `(n,)`, with a right one and a wrong.

    As one of few says little, who is right is so with the probability that Laplace's
    rule gives to another one, and likewise who is wrong; and the slope is drawn to 1 by
    half its squared distance. The loss is convex: by halves, where its slopes are 0.

    Source: Platt, "Probabilistic Outputs for Support Vector Machines" (1999), §2.
    """
    odds = _get_log_odds(np.log(np.asarray(scores, dtype="float64")))
    n_right, n = int(np.sum(is_right)), len(odds)
    truth = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    low, high = _LEAST, _MOST
    for _ in range(24):
        slope = float(np.sqrt(low * high))
        offset = _fit_offset(slope * odds, truth)
        excess = _get_probs(slope * odds + offset) - truth
        is_steep = excess @ odds + slope - 1 > 0
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


def _get_log_odds(log_probs: NDArray) -> NDArray:
    log_probs = np.minimum(log_probs, 0)  # the model's may be a rounding above
    with np.errstate(divide="ignore"):  # of 0 and 1
        odds = log_probs - np.log(-np.expm1(log_probs))
    return np.clip(odds, -_MOST_ODDS, _MOST_ODDS)


def _get_probs(odds: NDArray) -> NDArray:
    return np.exp(-np.logaddexp(0, -odds))
