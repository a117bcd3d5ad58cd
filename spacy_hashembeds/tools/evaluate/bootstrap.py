"""Bootstrap intervals and significance tests of scores.

Whole documents are resampled, since entities of one document are not independent.
Pipelines are fixed: intervals exclude the variation between training seeds.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.training import Example

from ...training.scorer import Counts, add_counts, score_counts
from ..extra import import_extra
from .confusions import ErrorCounter

#: Confidence level, and maximum number of draws, which are kept in memory.
CONFIDENCE, MAX_SAMPLES = 0.95, 100_000

#: Intervals of a key without gold counts.
NO_INTERVALS = dict.fromkeys(("p_interval", "r_interval", "f_interval"))

#: Matrix cells in memory at a time.
_CELLS = 4_000_000

#: Scores summed counts: (..., n_keys, 3) -> (..., n_scored, 3), or (...) for one score.
_Score = Callable[[np.ndarray], np.ndarray]


class Draws(NamedTuple):
    """Number and seed of the draws."""

    samples: int
    seed: int


class Run:
    """Counts of `n_read` examples: `documents` holds the counts of each annotated one,
    `numbers` their indices, `totals` their sum, `errors` the errors by kind.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        self.errors = ErrorCounter()
        counted = [self.count(number, each) for number, each in enumerate(examples)]
        self.n_read = len(counted)
        self.numbers = [i for i, counts in enumerate(counted) if counts is not None]
        self.documents = [counts for counts in counted if counts is not None]
        self.totals = add_counts(self.documents)

    def count(self, number: int, example: Example) -> Counts | None:
        """Return the counts of one document, or None without annotation."""
        raise NotImplementedError

    def stack(self, keys: Sequence[Hashable]) -> np.ndarray:
        """Return the counts of each document, shape (n_documents, n_keys, 3)."""
        rows = [[of.get(key, (0, 0, 0)) for key in keys] for of in self.documents]
        return np.array(rows, dtype="int32").reshape(len(rows), len(keys), 3)


def bootstrap_scores(
    counts: np.ndarray, draws: Draws, n_averaged: int | None = None
) -> list[dict[str, Any]]:
    """Return percentile bootstrap intervals: for each key, such as an entity type, a
    dict of "p_interval", "r_interval" and "f_interval".

    An interval is None if fewer than two documents have gold counts of the key, or all
    draws score the same. Draws with an undefined score, such as recall without gold
    counts, are dropped.

    counts (ndarray): True positives, false positives and false negatives. *Shape:*
        (n_documents, n_keys, 3)
    n_averaged (int, optional): Append the mean over the first n_averaged keys. A draw
        skips keys without gold counts in it; keys without gold counts at all score 0.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """
    intervals = _find_intervals(counts, *_make_score(counts, n_averaged), draws)
    return [dict(zip(NO_INTERVALS, each, strict=True)) for each in intervals]


def find_error_interval(
    sums: np.ndarray, measure: _Score, draws: Draws
) -> tuple[float, float] | None:
    """Return the basic bootstrap interval of an error that noise biases upwards, such
    as an absolute difference, for which percentile intervals are too high.

    Source: Davison and Hinkley, "Bootstrap Methods and their Application" (1997), §5.2.
    """
    if np.count_nonzero(sums.any(axis=(1, 2))) < 2:
        return None
    bounds = _find_percentiles(_resample(sums, measure, draws))
    twice = 2 * float(measure(sums.sum(axis=0)))
    low, high = (float(np.clip(twice - bound, 0, 1)) for bound in bounds or (0, 0))
    return bounds and (high, low)


def compare_scores(
    ours: np.ndarray, theirs: np.ndarray, draws: Draws, n_averaged: int | None = None
) -> list[Any]:
    """Compare two pipelines on the same documents. Return for "p", "r" and "f" of each
    key the "other" score, the "difference" (ours minus other), and the "interval" and
    "p_value" of the difference; None for keys without gold counts. Arguments and
    intervals are as in `bootstrap_scores`.

    The p-value is that of the two-sided paired randomization test, which swaps outputs
    in random documents. For accuracies, it equals that of McNemar's exact test.

    Source: Noreen (1989); Yeh, https://aclanthology.org/C00-2137.
    """
    score, n_documents = _make_score(ours, n_averaged)
    n_keys, both = ours.shape[1], np.concatenate([ours, theirs], axis=1)

    def subtract(sums: np.ndarray) -> np.ndarray:
        return score(sums[..., :n_keys, :]) - score(sums[..., n_keys:, :])

    columns = (
        np.nan_to_num(score(theirs.sum(axis=0))).tolist(),
        np.nan_to_num(subtract(both.sum(axis=0))).tolist(),
        _find_intervals(both, subtract, n_documents, draws),
        _randomize(ours, theirs, subtract, draws).tolist(),
    )
    names = ("other", "difference", "interval", "p_value")
    found: list[Any] = []
    for n, *values in zip(n_documents, *columns, strict=True):
        rows = (dict(zip(names, of, strict=True)) for of in zip(*values, strict=True))
        found.append(dict(zip("prf", rows, strict=True)) if n else None)
    return found


def _make_score(
    counts: np.ndarray, n_averaged: int | None
) -> tuple[_Score, np.ndarray]:
    """Return the score function, and each score's number of documents with gold."""
    has_gold, averaged = _has_gold(counts), slice(n_averaged)
    is_never_gold = ~has_gold[:, averaged].any(axis=0)

    def score(sums: np.ndarray) -> np.ndarray:
        scores, is_defined = score_counts(sums), _has_gold(sums)
        scores[~is_defined, 1] = np.nan  # spaCy returns 0
        if n_averaged is None:
            return scores
        is_used = (is_defined[..., averaged] | is_never_gold)[..., None]
        total = (np.nan_to_num(scores[..., averaged, :]) * is_used).sum(-2)
        mean = total / np.maximum(is_used.sum(axis=-2), 1)
        return np.concatenate([scores, mean[..., None, :]], axis=-2)

    if n_averaged is not None:
        any_gold = has_gold[:, averaged].any(axis=1, keepdims=True)
        has_gold = np.concatenate([has_gold, any_gold], axis=1)
    return score, has_gold.sum(axis=0)


def _has_gold(counts: np.ndarray) -> np.ndarray:
    """True for counts that include gold ones. *Shape:* (..., 3) -> (...)"""
    return counts[..., 0] + counts[..., 2] > 0


def _find_intervals(
    counts: np.ndarray, score: _Score, n_documents: np.ndarray, draws: Draws
) -> list[list[tuple[float, float] | None]]:
    """Return intervals as in `bootstrap_scores`. *Shape:* (n_scored, 3)"""
    if not (n_documents >= 2).any():
        return [[None] * 3] * len(n_documents)
    scores = _resample(counts, score, draws)
    scores[:, n_documents < 2] = np.nan
    return [[*map(_find_percentiles, key)] for key in np.moveaxis(scores, 0, -1)]


def _resample(rows: np.ndarray, score: _Score, draws: Draws) -> np.ndarray:
    """Score bootstrap samples of rows. *Shape:* (samples, n_scored, 3)"""
    n, scores, rng = len(rows), [], np.random.default_rng(draws.seed)
    rows = rows.astype("float64")
    batch = max(1, _CELLS // max(n, 3 * rows.shape[1]))
    for start in range(0, draws.samples, batch):
        size = min(batch, draws.samples - start)
        cells = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n)
        sums = np.tensordot(times.astype("float64"), rows, 1)
        scores.append(score(sums))
    return np.concatenate(scores)


def _find_percentiles(scores: np.ndarray) -> tuple[float, float] | None:
    kept = scores[~np.isnan(scores)]
    if not len(kept) or np.ptp(kept) < 1e-9:
        return None
    low, high = np.quantile(kept, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    return low, high


def _randomize(
    ours: np.ndarray, theirs: np.ndarray, subtract: _Score, draws: Draws
) -> np.ndarray:
    """Return p-values as in `compare_scores`. *Shape:* (n_scored, 3)"""
    total = (ours + theirs).sum(axis=0, dtype="float64")
    # equal documents have no effect when swapped; SciPy needs at least two
    differs = (ours != theirs).any(axis=(1, 2))
    moved = np.pad((ours - theirs)[differs], ((2, 0), (0, 0), (0, 0))).astype("float64")

    def score_swapped(signs: np.ndarray, axis: int) -> np.ndarray:
        change = np.tensordot(signs, moved, 1)
        # twice the sums: same scores
        sums = np.concatenate([total + change, total - change], axis=-2)
        return np.abs(np.nan_to_num(subtract(sums))).reshape(*signs.shape[:-1], -1)

    tested = import_extra("scipy.stats").permutation_test(
        (np.ones(len(moved)),),  # SciPy changes their signs
        score_swapped,
        permutation_type="samples",
        n_resamples=draws.samples,
        batch=max(1, _CELLS // max(len(moved), moved[0].size)),
        alternative="greater",
        vectorized=True,
        rng=np.random.default_rng(draws.seed),
    )
    return tested.pvalue.reshape(-1, 3)
