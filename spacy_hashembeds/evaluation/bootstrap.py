"""How far scores would move on other documents of the same kind.

What is drawn anew is always whole documents: entities of one document share its topic,
its author and its casing, so they are no independent draws. The trained pipelines are
held fixed: nothing here says what another training seed would give.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .counts import average, average_draws, count_gold, score_counts
from .draws import Blocks, Score, count_as_large, find_distinct, resample

#: The share of draws between the bounds of an interval.
CONFIDENCE = 0.95

#: Draws of scores that are in memory at a time.
_DRAWN = 16_000_000

Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ScoreIntervals:
    """Intervals of one precision, recall and F1, each as lower and upper bound, 0 to 1.

    None where there is nothing to draw from: where fewer than two documents have gold
    entities, and where the score is the same in every draw, as one of 0 or 1 is.

    p (tuple[float, float], optional): Of precision.
    r (tuple[float, float], optional): Of recall.
    f (tuple[float, float], optional): Of F1.
    """

    p: Interval | None
    r: Interval | None
    f: Interval | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How the score of one pipeline differs from that of another.

    difference (float): The first minus the second, -1 to 1.
    interval (tuple[float, float], optional): Its lower and upper bound, from a paired
        bootstrap. None as in `ScoreIntervals`.
    p_value (float): Two-sided, from approximate randomization.
    """

    difference: float
    interval: Interval | None
    p_value: float


@dataclass(frozen=True, kw_only=True)
class ScoreDifferences:
    """Differences of precision, recall and F1.

    p (Difference): Of precision.
    r (Difference): Of recall.
    f (Difference): Of F1.
    """

    p: Difference
    r: Difference
    f: Difference


def bootstrap_scores(
    counts: np.ndarray, *, samples: int, seed: int, show_progress: bool = False
) -> list[ScoreIntervals]:
    """Give each score its percentile bootstrap interval over documents.

    As many documents as there are get drawn with replacement, `samples` times, and each
    time all is scored. The bounds are percentiles of these scores (Efron and Tibshirani
    1993, chapter 13). Draws in which nothing is counted for a thing are left out, and
    for recall those without a gold entity. One that holds gold entities and no
    prediction has precision 0, as in spaCy.

    counts (ndarray): True positives, false positives and false negatives of each
        document for each thing scored, shape (n_documents, n_things, 3).
    samples (int): How often to draw, up to `MAX_SAMPLES`. 5000 give bounds that are
        steady to about one hundredth of the interval's width.
    seed (int): Equal seeds give equal intervals.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (ValueError): If there is no sample to draw, or too many.
    RETURNS (list[ScoreIntervals]): For each thing.
    """
    blocks = Blocks(samples, "Drawing documents", show_progress)
    rows, times = find_distinct(counts)
    intervals = [ScoreIntervals(p=None, r=None, f=None)] * counts.shape[1]
    drawable = np.flatnonzero(_can_be_drawn(counts))
    size = max(1, _DRAWN // (3 * samples))
    for i in range(0, len(drawable), size):
        things = drawable[i : i + size]
        # the same documents are drawn for all things
        draws = resample(rows[:, things], times, _score_draws, blocks, seed)
        for j, thing in enumerate(things):
            intervals[thing] = ScoreIntervals(**_bound(draws[:, j]))
    return intervals


def compare_scores(
    ours: np.ndarray,
    theirs: np.ndarray,
    *,
    samples: int,
    seed: int,
    show_progress: bool = False,
) -> list[ScoreDifferences | None]:
    """Test whether two pipelines score differently on the same documents.

    The p-value is that of approximate randomization (Noreen 1989; Yeh 2000): if the
    pipelines were alike, it would not matter which of them made which prediction, so
    their predictions are exchanged in each document with probability 1/2, `samples`
    times, and p is how often the difference comes out at least as large as it is, in
    either direction, the data themselves counted in. It is chosen over the bootstrap
    for the test because it assumes nothing about how an F1 is distributed, and its
    errors do not exceed the stated level in small samples, where a bootstrap's do.
    Since it gives no interval, that comes from a paired bootstrap: the same
    documents are drawn for both. On the edge of significance the two may disagree.

    ours (ndarray): The first pipeline's true positives, false positives and false
        negatives, shape (n_documents, n_things, 3).
    theirs (ndarray): The second one's on the same documents, in the same shape.
    samples (int): How often to exchange, and to draw, up to `MAX_SAMPLES`. The least
        p-value is 1 / (samples + 1).
    seed (int): Equal seeds give equal results.
    show_progress (bool): As in `bootstrap_scores`.
    RAISES (ValueError): If shapes differ, or there is no sample to draw, or too many.
    RETURNS (list[ScoreDifferences | None]): For each thing. None where there are no
        gold entities.
    """
    options = _Options(samples=samples, seed=seed, show_progress=show_progress)
    measured, p_values, draws = _compare(
        ours, theirs, score_counts, _score_draws, options
    )
    can_be_drawn = _can_be_drawn(ours)
    return [
        ScoreDifferences(
            **_describe(measured[i], p_values[i], draws[:, i], is_bounded=bounded)
        )
        if count_gold(ours[:, i]).any()
        else None
        for i, bounded in enumerate(can_be_drawn)
    ]


def bootstrap_mean(
    counts: np.ndarray,
    *,
    samples: int,
    seed: int,
    absent: int = 0,
    show_progress: bool = False,
) -> ScoreIntervals:
    """Give the mean over things its interval, as `bootstrap_scores` does for each.

    It is the macro average, in which a score with nothing to divide by is 0. Of the
    things that have gold ones, a draw leaves out those of which it has none: it says
    nothing of how they would be found.

    counts (ndarray): As for `bootstrap_scores`.
    absent (int): How many things more there are, which no document has: they score 0.
    RETURNS (ScoreIntervals): Of the mean.
    """
    blocks = Blocks(samples, "Drawing documents", show_progress)
    rows, times = find_distinct(counts)
    if not _can_mean_be_drawn(counts):
        return ScoreIntervals(p=None, r=None, f=None)
    is_gold = count_gold(counts).sum(axis=0) > 0
    score = partial(average_draws, is_gold=is_gold, absent=absent)
    return ScoreIntervals(**_bound(resample(rows, times, score, blocks, seed)))


def compare_means(
    ours: np.ndarray,
    theirs: np.ndarray,
    *,
    samples: int,
    seed: int,
    absent: int = 0,
    show_progress: bool = False,
) -> ScoreDifferences | None:
    """Test whether the means over things of two pipelines differ.

    ours (ndarray): As for `compare_scores`.
    theirs (ndarray): Likewise.
    absent (int): As for `bootstrap_mean`.
    RAISES (ValueError): As there.
    RETURNS (ScoreDifferences, optional): None where there is no gold thing.
    """
    if not count_gold(ours).any():
        return None
    options = _Options(samples=samples, seed=seed, show_progress=show_progress)
    is_gold = count_gold(ours).sum(axis=0) > 0
    score = partial(average, absent=absent)
    score_draws = partial(average_draws, is_gold=is_gold, absent=absent)
    found = _compare(ours, theirs, score, score_draws, options)
    return ScoreDifferences(**_describe(*found, is_bounded=_can_mean_be_drawn(ours)))


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, as Holm (1979) does.

    Where nothing differs, one of them is below 0.05 in at most 5 percent of all
    families of tests, however the tests depend on each other.

    p_values (Sequence[float]): Those of all tests that are made together.
    RETURNS (list[float]): The adjusted ones, in the same order.
    """
    n = len(p_values)
    adjusted, largest = [0.0] * n, 0.0
    for rank, i in enumerate(sorted(range(n), key=p_values.__getitem__)):
        largest = max(largest, (n - rank) * p_values[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


@dataclass(frozen=True, kw_only=True)
class _Options:
    samples: int
    seed: int
    show_progress: bool

    def make_blocks(self, title: str) -> Blocks:
        return Blocks(self.samples, title, self.show_progress)


def _compare(
    ours: np.ndarray,
    theirs: np.ndarray,
    score: Score,
    score_draws: Score,
    options: "_Options",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give differences, their p-values, and the differences of draws."""
    if ours.shape != theirs.shape:
        raise ValueError(
            "'ours' and 'theirs' should count the same things in the same documents, "
            f"but their shapes are {ours.shape} and {theirs.shape}."
        )
    blocks = options.make_blocks("Exchanging predictions")
    n_as_large = count_as_large(ours, theirs, score, blocks, options.seed)
    rows, times = find_distinct(np.stack([ours, theirs], axis=1))
    blocks = options.make_blocks("Drawing documents for both")

    def subtract(sums: np.ndarray) -> np.ndarray:
        return score_draws(sums[:, 0]) - score_draws(sums[:, 1])

    return (
        score(ours.sum(axis=0)) - score(theirs.sum(axis=0)),
        (n_as_large + 1) / (options.samples + 1),
        resample(rows, times, subtract, blocks, options.seed),
    )


def _describe(
    measured: np.ndarray, p_values: np.ndarray, draws: np.ndarray, *, is_bounded: bool
) -> dict[str, Difference]:
    bounds = _bound(draws) if is_bounded else dict.fromkeys("prf")
    return {
        key: Difference(
            difference=float(measured[i]),
            interval=bounds[key],
            p_value=float(p_values[i]),
        )
        for i, key in enumerate("prf")
    }


def _score_draws(sums: np.ndarray) -> np.ndarray:
    """Score draws, shape (samples, n_things, 3), recall NaN without gold entities.

    spaCy's is 0 then. Drawn as 0, it would say of rare types that they may not be
    found, where they may not be there.
    """
    scores = score_counts(sums)
    scores[count_gold(sums) == 0, 1] = np.nan
    return scores


def _can_be_drawn(counts: np.ndarray) -> np.ndarray:
    """Say of which things at least two documents have gold entities."""
    return (count_gold(counts) > 0).sum(axis=0) >= 2


def _can_mean_be_drawn(counts: np.ndarray) -> bool:
    return bool(_can_be_drawn(counts.sum(axis=1, keepdims=True)).any())


def _bound(draws: np.ndarray) -> dict[str, Interval | None]:
    """Bound the draws of one thing's three scores, shape (samples, 3)."""
    return {key: _bound_score(draws[:, i]) for i, key in enumerate("prf")}


def _bound_score(draws: np.ndarray) -> Interval | None:
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0 or draws.min() == draws.max():
        return None
    tail = (1 - CONFIDENCE) / 2
    lower, upper = np.quantile(draws, [tail, 1 - tail])
    return float(lower), float(upper)
