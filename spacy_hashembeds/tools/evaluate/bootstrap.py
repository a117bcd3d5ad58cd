"""Intervals and tests of scores over documents.

Whole documents are drawn: entities of one share its topic, author and casing. The
pipelines are held fixed: nothing here says what another training seed would give.
"""

from collections.abc import Callable
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


class Draws(NamedTuple):
    """Number and seed of the draws."""

    samples: int
    seed: int


def bootstrap_scores(
    counts: np.ndarray, draws: Draws, *, is_mean: bool = False
) -> list[dict[str, Any]]:
    """Return the percentile bootstrap intervals of the scores of things, each a dict of
    "p_interval", "r_interval" and "f_interval".

    An interval is None if not two documents have gold ones, or each draw scores the
    same. Draws without anything, for recall without a gold one, are left out.

    counts (ndarray): True positives, false positives and false negatives. *Shape:*
        (n_documents, n_things, 3)
    is_mean (bool): Score the mean over things instead. A draw leaves out gold things
        that it lacks; things that no document has score 0.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """
    intervals = _bound(counts, *_choose_score(counts, is_mean), draws)
    names = [f"{key}_interval" for key in "prf"]
    return [dict(zip(names, each, strict=True)) for each in intervals]


def compare_scores(
    ours: np.ndarray, theirs: np.ndarray, draws: Draws, *, is_mean: bool = False
) -> list[Any]:
    """Compare two pipelines on the same documents: return, for "p", "r" and "f" of each
    thing, the "other" score, by how much ours is better, as "difference", its
    "interval" and "p_value"; None of things without gold ones. Arguments and intervals
    are as in `bootstrap_scores`.

    p is that of the paired randomization test: how often the difference is at least as
    large, in either direction, when the outputs of the pipelines are swapped in
    documents drawn at random; of accuracies, McNemar's exact test.

    Source: Noreen (1989); Yeh, https://aclanthology.org/C00-2137.
    """
    score, n_documents = _choose_score(ours, is_mean)

    def subtract(sums: np.ndarray) -> np.ndarray:
        first, second = np.split(sums, 2, axis=-2)
        return score(first) - score(second)

    both = np.concatenate([ours, theirs], axis=1)
    columns = {
        "other": np.nan_to_num(score(theirs.sum(axis=0))).tolist(),
        "difference": np.nan_to_num(subtract(both.sum(axis=0))).tolist(),
        "interval": _bound(both, subtract, n_documents, draws),
        "p_value": _swap(ours, theirs, subtract, draws).tolist(),
    }
    return [
        {
            key: {name: values[thing][i] for name, values in columns.items()}
            for i, key in enumerate("prf")
        }
        if n
        else None
        for thing, n in enumerate(n_documents)
    ]


def _choose_score(counts: np.ndarray, is_mean: bool) -> tuple[_Score, np.ndarray]:
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
        n_things = is_there.sum(axis=-2, keepdims=True)
        return scores.sum(axis=-2, keepdims=True) / np.maximum(n_things, 1)

    if is_mean:
        return average, is_gold.any(axis=1).sum(keepdims=True)
    return score, is_gold.sum(axis=0)


def _bound(
    counts: np.ndarray, score: _Score, n_documents: np.ndarray, draws: Draws
) -> list[list[tuple[float, float] | None]]:
    """Return intervals: see `bootstrap_scores`. *Shape:* (n_scored, 3)"""
    is_drawn = n_documents >= 2
    if not is_drawn.any():
        return [[None] * 3] * len(n_documents)
    flat = counts.reshape(len(counts), -1)
    # documents with equal counts are of one kind
    rows, kinds = np.unique(flat, axis=0, return_inverse=True)
    rng = np.random.default_rng(draws.seed)
    scores = np.empty((draws.samples, len(n_documents), 3))
    batch = max(1, _CELLS // max(flat.shape))
    for start in range(0, draws.samples, batch):
        part = scores[start : start + batch]
        drawn = kinds.ravel()[rng.integers(len(flat), size=(len(part), len(flat)))]
        cells = drawn + len(rows) * np.arange(len(part))[:, None]
        times = np.bincount(cells.ravel(), minlength=len(part) * len(rows))
        sums = times.reshape(len(part), -1).astype("float64") @ rows.astype("float64")
        part[:] = score(sums.reshape(-1, *counts.shape[1:]))
    scores[:, ~is_drawn] = np.nan
    return [[*map(_find_bounds, thing)] for thing in np.moveaxis(scores, 0, -1)]


def _find_bounds(scores: np.ndarray) -> tuple[float, float] | None:
    kept = scores[~np.isnan(scores)]
    if not len(kept) or not np.ptp(kept):
        return None
    low, high = np.quantile(kept, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    return low, high


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
    return tested.pvalue.reshape(-1, 3)
