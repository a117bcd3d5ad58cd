"""How far scores would move on other documents of the same kind.

Whole documents are drawn: entities of one share its topic, author and casing. The
pipelines are held fixed: nothing here says what another training seed would give.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm  # type: ignore[import-untyped]

from ..checks import check_integers, check_types
from .counts import count_gold, score_counts

#: The share of draws between the bounds of an interval.
CONFIDENCE = 0.95

#: Cells of a matrix, and draws of scores, that are in memory at a time.
_CELLS, _DRAWN = 4_000_000, 16_000_000

# Scores sums of counts, shape (..., n_things, 3), for each draw on its own.
_Score = Callable[[np.ndarray], np.ndarray]


class Scores(NamedTuple):
    """What is said of one precision, recall and F1. Intervals are None if not two
    documents have gold ones, and where each draw scores the same, as with 0 and 1.
    """

    p: Any
    r: Any
    f: Any


#: No intervals.
NONE = Scores(None, None, None)


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


class Difference(NamedTuple):
    """One score minus another, its interval, and the two-sided p-value."""

    difference: float
    interval: tuple[float, float] | None
    p_value: float


@dataclass(frozen=True, kw_only=True)
class Draws:
    """How to draw: the arguments of `evaluate`."""

    samples: int
    seed: int
    show_progress: bool = False

    def __post_init__(self) -> None:
        check_types(int, "an integer", samples=self.samples, seed=self.seed)
        # bounds are steady long before, and draws are kept in memory
        check_integers(1, 1_000_000, samples=self.samples)
        check_integers(0, seed=self.seed)

    def split(self, title: str, width: int) -> Iterator[int]:
        """Give the sizes of blocks of draws, of which each draw has that many cells."""
        size = max(1, _CELLS // max(1, width))
        with self._make_bar(desc=title, total=self.samples) as bar:
            for i in range(0, self.samples, size):
                n_draws = min(size, self.samples - i)
                yield n_draws
                bar.update(n_draws)

    def show(self, docs: Any, title: str, total: int | None = None) -> Any:
        """Hand docs on, and show how far that is."""
        return self._make_bar(docs, desc=title, total=total, unit=" docs")

    def _make_bar(self, *args: Any, **settings: Any) -> Any:
        disable = None if self.show_progress else True
        return tqdm(*args, leave=False, disable=disable, **settings)


def bootstrap_scores(counts: np.ndarray, draws: Draws) -> list[Scores]:
    """Give each score its percentile bootstrap interval over documents.

    The bounds are percentiles of the scores of documents drawn with replacement (Efron
    and Tibshirani 1993, chapter 13); of 5000, steady to about one hundredth of the
    interval's width. Draws in which nothing is counted for a thing are left out, and
    for recall those without a gold one. *Shape of counts:* (n_documents, n_things, 3).
    """
    rows, times = _find_distinct(counts)
    intervals = [NONE] * counts.shape[1]
    drawable = np.flatnonzero(_count_documents(counts) >= 2)
    size = max(1, _DRAWN // (3 * draws.samples))
    for i in range(0, len(drawable), size):
        things = drawable[i : i + size]
        # the same documents are drawn for all things
        drawn = _resample(rows[:, things], times, _score_draws, draws)
        for j, thing in enumerate(things):
            intervals[thing] = _bound(drawn[:, j])
    return intervals


def compare_scores(
    ours: np.ndarray, theirs: np.ndarray, draws: Draws
) -> list[Scores | None]:
    """Give the `Difference`s of two pipelines' scores on the same documents, None where
    there are no gold entities.

    The p-value is that of approximate randomization (Noreen 1989; Yeh 2000): the
    predictions are exchanged in each document with probability 1/2, and p is how often
    the difference comes out at least as large as it is, in either direction, the data
    themselves counted in. Unlike a bootstrap's, its errors do not exceed the stated
    level in small samples. The interval is the difference plus and minus what
    `CONFIDENCE` of these draws do not exceed: it excludes 0 where p is at most 0.05.
    """
    return _compare(ours, theirs, score_counts, _count_documents(ours), draws)


def bootstrap_mean(counts: np.ndarray, draws: Draws, *, absent: int = 0) -> Scores:
    """Give the mean over things its interval, as `bootstrap_scores` does for each.

    A score with nothing to divide by is 0, as that of `absent` more things which no
    document has. A draw leaves out gold things that it lacks: it says nothing of them.
    """
    if _count_documents(counts.sum(axis=1, keepdims=True))[0] < 2:
        return NONE
    rows, times = _find_distinct(counts)
    score = partial(_average, absent=absent, is_gold=_count_documents(counts) > 0)
    return _bound(_resample(rows, times, score, draws)[:, 0])


def compare_means(
    ours: np.ndarray, theirs: np.ndarray, draws: Draws, *, absent: int = 0
) -> Scores | None:
    """Compare the means of `bootstrap_mean` as `compare_scores` does scores."""
    n_documents = _count_documents(ours.sum(axis=1, keepdims=True))
    score = partial(_average, absent=absent)
    return _compare(ours, theirs, score, n_documents, draws)[0]


def _compare(
    ours: np.ndarray,
    theirs: np.ndarray,
    score: _Score,
    n_documents: np.ndarray,
    draws: Draws,
) -> list[Scores | None]:
    if ours.shape != theirs.shape:
        raise ValueError(
            "'ours' and 'theirs' should count the same things in the same documents, "
            f"but their shapes are {ours.shape} and {theirs.shape}."
        )
    differences = score(ours.sum(axis=0)) - score(theirs.sum(axis=0))
    p_values, margins = _exchange(ours, theirs, score, draws)
    bounds = np.clip([differences - margins, differences + margins], -1, 1)
    compared: list[Scores | None] = []
    for i, n in enumerate(n_documents):
        intervals = map(tuple, bounds[:, i].T.tolist())
        known = [
            b if n > 1 and m else None
            for b, m in zip(intervals, margins[i], strict=True)
        ]
        found = map(Difference, differences[i].tolist(), known, p_values[i].tolist())
        compared.append(Scores(*found) if n else None)
    return compared


def _exchange(
    ours: np.ndarray, theirs: np.ndarray, score: _Score, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """Give the p-values of differences, from predictions exchanged by document, and the
    largest difference whose p-value would be above 1 - `CONFIDENCE`.
    """
    sums = [counts.sum(axis=0, keepdims=True) for counts in (ours, theirs)]
    measured = np.abs(score(sums[0]) - score(sums[1]))
    rows, times = _find_distinct(theirs - ours)
    gains = _flatten(rows)
    rng = np.random.default_rng(draws.seed)
    found = [measured]
    for n_draws in draws.split("Exchanging predictions", max(gains.shape)):
        swaps = rng.binomial(times, 0.5, size=(n_draws, len(gains)))
        exchanged = swaps.astype("float64") @ gains
        exchanged = exchanged.reshape(n_draws, *ours.shape[1:])
        found.append(np.abs(score(sums[0] + exchanged) - score(sums[1] - exchanged)))
    drawn = np.concatenate(found)
    # Equal differences may differ by rounding.
    n_as_large = (drawn >= measured - 1e-12).sum(axis=0)
    n_beyond = int((1 - CONFIDENCE) * len(drawn))
    drawn.partition(-1 - n_beyond, axis=0)
    margins = drawn[-1 - n_beyond]
    rounded = np.where(n_as_large > n_beyond, np.maximum(margins, measured[0]), margins)
    return n_as_large / len(drawn), rounded


def _resample(
    rows: np.ndarray, times: np.ndarray, score: _Score, draws: Draws
) -> np.ndarray:
    if not len(rows):
        return score(np.zeros((draws.samples, *rows.shape[1:])))
    flat, n_documents = _flatten(rows), times.sum()
    rng = np.random.default_rng(draws.seed)
    scores = []
    for n_draws in draws.split("Drawing documents", max(flat.shape)):
        weights = rng.multinomial(n_documents, times / n_documents, n_draws)
        sums = weights.astype("float64") @ flat
        scores.append(score(sums.reshape(n_draws, *rows.shape[1:])))
    return np.concatenate(scores)


def _find_distinct(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, times = np.unique(_flatten(counts), axis=0, return_counts=True)
    return rows.astype("float64").reshape(len(rows), *counts.shape[1:]), times


def _flatten(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), int(np.prod(rows.shape[1:])))


def _score_draws(sums: np.ndarray) -> np.ndarray:
    """Score draws, but recall without gold entities as NaN, where spaCy's is 0: a rare
    type that is not there is not one that isn't found.
    """
    scores = score_counts(sums)
    scores[count_gold(sums) == 0, 1] = np.nan
    return scores


def _average(sums: np.ndarray, absent: int, is_gold: Any = False) -> np.ndarray:
    """Average the scores of things, but for gold ones that lack here: (..., 1, 3)."""
    is_there = (~np.asarray(is_gold) | (count_gold(sums) > 0))[..., None]
    scores = np.nan_to_num(score_counts(sums)) * is_there
    with np.errstate(invalid="ignore"):
        n_things = is_there.sum(axis=-2, keepdims=True) + absent
        return scores.sum(axis=-2, keepdims=True) / n_things


def _count_documents(counts: np.ndarray) -> Any:
    return (count_gold(counts) > 0).sum(axis=0)


def _bound(drawn: np.ndarray) -> Scores:
    """Bound the draws of one thing's three scores, shape (samples, 3)."""
    tail = (1 - CONFIDENCE) / 2
    bounds: list[Any] = []
    for scores in drawn.T:
        kept = scores[~np.isnan(scores)]
        varies = len(kept) and np.ptp(kept)
        found = np.quantile(kept, [tail, 1 - tail]).tolist() if varies else None
        bounds.append(found and tuple(found))
    return Scores(*bounds)
