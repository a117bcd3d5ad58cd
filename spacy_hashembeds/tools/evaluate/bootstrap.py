"""Intervals and tests of scores over documents, by SciPy.

Whole documents are drawn: entities of one share its topic, author and casing. The
pipelines are held fixed: nothing here says what another training seed would give.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...training.scorer import count_gold, score_counts
from ..extra import import_extra

#: The share of draws between the bounds of an interval, and the most draws, which are
#: kept in memory: bounds are steady long before.
CONFIDENCE, MAX_SAMPLES = 0.95, 100_000

#: Cells of a matrix that are in memory at a time.
_CELLS = 4_000_000

#: Scores sums of counts: (..., n_things, 3) to (..., n_scored, 3).
_Score = Callable[[np.ndarray], np.ndarray]


class Scores(NamedTuple):
    """Precision, recall and F1: their intervals, or `Difference`s of them."""

    p: Any
    r: Any
    f: Any


class Difference(NamedTuple):
    """One score minus another, its interval, and the two-sided p-value."""

    difference: float
    interval: tuple[float, float] | None
    p_value: float


class Draws(NamedTuple):
    """Number and seed of the draws."""

    samples: int
    seed: int


def bootstrap_scores(
    counts: np.ndarray, draws: Draws, *, absent: int | None = None
) -> list[Scores]:
    """Return the percentile bootstrap intervals of the scores of things.

    An interval is None if not two documents have gold ones, or each draw scores the
    same. Draws without anything, for recall without a gold one, are left out.

    counts (ndarray): True positives, false positives and false negatives. *Shape:*
        (n_documents, n_things, 3)
    absent (int, optional): Score the mean over things instead, and over so many more
        that no document has. A draw leaves out gold things that it lacks.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """
    return _bound(counts, *_choose_score(counts, absent), draws)


def compare_scores(
    ours: np.ndarray, theirs: np.ndarray, draws: Draws, *, absent: int | None = None
) -> list[Scores | None]:
    """Return the `Difference`s of two pipelines' scores on the same documents, None of
    things without gold ones. Arguments and intervals are as in `bootstrap_scores`.

    p is that of the paired randomization test: how often the difference is at least as
    large, in either direction, when the outputs of the pipelines are swapped in
    documents drawn at random; of accuracies, McNemar's exact test.

    Source: Noreen (1989); Yeh, https://aclanthology.org/C00-2137.
    """
    score, n_documents = _choose_score(ours, absent)

    def subtract(sums: np.ndarray) -> np.ndarray:
        first, second = np.split(sums, 2, axis=-2)
        return score(first) - score(second)

    both = np.concatenate([ours, theirs], axis=1)
    found = zip(
        np.nan_to_num(subtract(both.sum(axis=0))).tolist(),
        _bound(both, subtract, n_documents, draws),
        _swap(ours, theirs, subtract, draws).tolist(),
        strict=True,
    )
    return [
        Scores(*map(Difference, *each)) if n else None
        for each, n in zip(found, n_documents, strict=True)
    ]


def name_intervals(intervals: Scores | None, prefix: str = "") -> dict[str, Any]:
    """Name intervals after their scores: "p_interval" and so on, behind a prefix."""
    return {f"{prefix}{key}_interval": getattr(intervals, key, None) for key in "prf"}


def describe_differences(
    differences: Scores | None, others: Mapping[str, Any], prefix: str = ""
) -> dict[str, dict[str, Any]] | None:
    """Put each `Difference` beside the "other" score."""
    return differences and {
        key: {"other": others[f"{prefix}{key}"], **difference._asdict()}
        for key, difference in differences._asdict().items()
    }


def _choose_score(counts: np.ndarray, absent: int | None) -> tuple[_Score, np.ndarray]:
    """Choose how sums are scored, and count the documents with gold ones."""
    is_gold = count_gold(counts) > 0
    is_ever_gold = is_gold.any(axis=0)

    def score(sums: np.ndarray) -> np.ndarray:
        scores = score_counts(sums)
        scores[count_gold(sums) == 0, 1] = np.nan  # spaCy's is 0
        return scores

    def average(sums: np.ndarray) -> np.ndarray:
        is_there = (~is_ever_gold | (count_gold(sums) > 0))[..., None]
        scores = np.nan_to_num(score_counts(sums)) * is_there
        n_things = is_there.sum(axis=-2, keepdims=True) + absent
        return scores.sum(axis=-2, keepdims=True) / np.maximum(n_things, 1)

    if absent is None:
        return score, is_gold.sum(axis=0)
    return average, is_gold.any(axis=1).sum(keepdims=True)


def _bound(
    counts: np.ndarray, score: _Score, n_documents: np.ndarray, draws: Draws
) -> list[Scores]:
    if not (n_documents >= 2).any():
        return [Scores(None, None, None)] * len(n_documents)
    flat = counts.reshape(len(counts), -1)
    rows, kinds = np.unique(flat, axis=0, return_inverse=True)
    rows = rows.astype("float64")

    def score_drawn(drawn: np.ndarray, axis: int) -> np.ndarray:
        cells = drawn + len(rows) * np.arange(len(drawn))[:, None]
        times = np.bincount(cells.ravel(), minlength=len(drawn) * len(rows))
        sums = times.reshape(len(drawn), -1).astype("float64") @ rows
        return np.moveaxis(score(sums.reshape(-1, *counts.shape[1:])), 0, -1)

    with warnings.catch_warnings():  # of draws that are left out, and of a single one
        warnings.simplefilter("ignore")
        found = import_extra("scipy.stats").bootstrap(
            (kinds.ravel(),),
            score_drawn,
            n_resamples=draws.samples,
            batch=max(1, _CELLS // max(flat.shape)),
            method="percentile",
            vectorized=True,
            rng=np.random.default_rng(draws.seed),
        )
    tail = (1 - CONFIDENCE) / 2

    def bound(scores: np.ndarray) -> tuple[float, float] | None:
        kept = scores[~np.isnan(scores)]
        bounds = np.quantile(kept, [tail, 1 - tail]).tolist() if len(kept) else None
        return tuple(bounds) if bounds and np.ptp(kept) else None

    return [
        Scores(*map(bound, thing)) if n >= 2 else Scores(None, None, None)
        for n, thing in zip(n_documents, found.bootstrap_distribution, strict=True)
    ]


def _swap(
    ours: np.ndarray, theirs: np.ndarray, subtract: _Score, draws: Draws
) -> np.ndarray:
    """Return p-values: see `compare_scores`. *Shape:* (n_scored, 3)"""
    total = (ours + theirs).sum(axis=0, dtype="float64")
    # the other documents are the same when they are swapped; SciPy needs two or more
    differs = (ours != theirs).any(axis=(1, 2))
    moved = np.pad((ours - theirs)[differs], ((2, 0), (0, 0), (0, 0))).astype("float64")

    def score_swapped(signs: np.ndarray, axis: int) -> np.ndarray:
        change = np.tensordot(signs, moved, 1)
        # twice the sums, which score the same
        sums = np.concatenate([total + change, total - change], axis=-2)
        return np.abs(np.nan_to_num(subtract(sums))).reshape(*signs.shape[:-1], -1)

    tested = import_extra("scipy.stats").permutation_test(
        (np.ones(len(moved)),),  # whose signs are changed
        score_swapped,
        permutation_type="samples",
        n_resamples=draws.samples,
        batch=max(1, _CELLS // max(len(moved), moved[0].size)),
        alternative="greater",
        vectorized=True,
        rng=np.random.default_rng(draws.seed),
    )
    return tested.pvalue.reshape(subtract(np.concatenate([total, total])).shape)
