"""How far scores would move on other documents of the same kind.

What is drawn anew is always whole documents: entities of one document share its topic,
its author and its casing, so they are no independent draws. The trained pipelines are
held fixed: nothing here says what another training seed would give.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm  # type: ignore[import-untyped]

from ..checks import check_integers
from .counts import score_counts

#: The most draws. Bounds are steady long before, and draws are kept in memory.
MAX_SAMPLES = 1_000_000

#: The share of draws between the bounds of an interval.
CONFIDENCE = 0.95

#: Cells of a weight matrix that are in memory at a time.
_CELLS = 4_000_000

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
    blocks = _Blocks(samples, "Drawing documents", show_progress)
    rows, times = _find_distinct(counts)
    intervals = [ScoreIntervals(p=None, r=None, f=None)] * counts.shape[1]
    drawable = np.flatnonzero(_can_be_drawn(counts))
    size = max(1, _DRAWN // (3 * samples))
    for i in range(0, len(drawable), size):
        things = drawable[i : i + size]
        # the same documents are drawn for all things
        draws = _score_draws(_resample(rows[:, things], times, blocks, seed))
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
    if ours.shape != theirs.shape:
        raise ValueError(
            "'ours' and 'theirs' should count the same things in the same documents, "
            f"but their shapes are {ours.shape} and {theirs.shape}."
        )
    measured = _subtract(ours.sum(axis=0), theirs.sum(axis=0))
    blocks = _Blocks(samples, "Exchanging predictions", show_progress)
    p_values = _randomize(ours, theirs, measured, blocks, seed)
    rows, times = _find_distinct(np.stack([ours, theirs], axis=1))
    blocks = _Blocks(samples, "Drawing documents for both", show_progress)
    drawn = _resample(rows, times, blocks, seed)
    draws = _score_draws(drawn[:, 0]) - _score_draws(drawn[:, 1])

    can_be_drawn = _can_be_drawn(ours)
    return [
        ScoreDifferences(**_describe(measured[i], p_values[i], bounds))
        if _count_gold(ours[:, i]).any()
        else None
        for i in range(ours.shape[1])
        for bounds in [_bound(draws[:, i]) if can_be_drawn[i] else dict.fromkeys("prf")]
    ]


def _describe(
    measured: np.ndarray, p_values: np.ndarray, bounds: dict[str, Interval | None]
) -> dict[str, Difference]:
    return {
        key: Difference(
            difference=float(measured[i]),
            interval=bounds[key],
            p_value=float(p_values[i]),
        )
        for i, key in enumerate("prf")
    }


class _Blocks:
    """Cuts draws into blocks whose weights fit in memory, and shows their progress."""

    def __init__(self, samples: int, title: str, show_progress: bool) -> None:
        check_integers(1, MAX_SAMPLES, samples=samples)
        self.samples = samples
        self._title = title
        self._show_progress = show_progress

    def split(self, totals: np.ndarray, width: int) -> Iterator[np.ndarray]:
        """Give views of the draws, of which each has that many weights."""
        size = max(1, _CELLS // max(1, width))
        disable = None if self._show_progress else True
        with tqdm(
            desc=self._title, total=self.samples, leave=False, disable=disable
        ) as bar:
            for i in range(0, len(totals), size):
                block = totals[i : i + size]
                yield block
                bar.update(len(block))


def _resample(
    rows: np.ndarray, times: np.ndarray, blocks: _Blocks, seed: int
) -> np.ndarray:
    """Sum counts over documents drawn with replacement.

    Documents with equal counts are alike here, so that it is enough to draw how often
    each distinct row comes up.

    rows (ndarray): The distinct counts, shape (n_rows, ...).
    times (ndarray): How many documents have each of them, shape (n_rows,).
    RETURNS (ndarray): The sums, shape (samples, ...), dtype float64.
    """
    flat, n_documents = _flatten(rows), times.sum()
    totals = np.zeros((blocks.samples, flat.shape[1]))
    rng = np.random.default_rng(seed)
    for block in blocks.split(totals, len(flat)) if len(flat) else []:
        weights = rng.multinomial(n_documents, times / n_documents, len(block))
        block[:] = weights.astype("float64") @ flat
    return totals.reshape(blocks.samples, *rows.shape[1:])


def _randomize(
    ours: np.ndarray,
    theirs: np.ndarray,
    measured: np.ndarray,
    blocks: _Blocks,
    seed: int,
) -> np.ndarray:
    """Give the two-sided p-values of differences, shape (n_things, 3)."""
    rows, times = _find_distinct(theirs - ours)
    gains = _flatten(rows)
    exchanged = np.zeros((blocks.samples, gains.shape[1]))
    rng = np.random.default_rng(seed)
    for block in blocks.split(exchanged, len(gains)):
        swaps = rng.binomial(times, 0.5, size=(len(block), len(gains)))
        block[:] = swaps.astype("float64") @ gains
    exchanged = exchanged.reshape(blocks.samples, *ours.shape[1:])
    differences = _subtract(
        ours.sum(axis=0) + exchanged, theirs.sum(axis=0) - exchanged
    )
    # Equal differences may differ by rounding.
    as_large = np.abs(differences) >= np.abs(measured) - 1e-12
    return (as_large.sum(axis=0) + 1) / (blocks.samples + 1)


def _score_draws(sums: np.ndarray) -> np.ndarray:
    """Score draws, shape (samples, n_things, 3), recall NaN without gold entities.

    spaCy's is 0 then. Drawn as 0, it would say of rare types that they may not be
    found, where they may not be there.
    """
    scores = score_counts(sums)
    scores[_count_gold(sums) == 0, 1] = np.nan
    return scores


def _subtract(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return score_counts(ours) - score_counts(theirs)


def _find_distinct(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the distinct counts of documents, and how often each is there."""
    rows, times = np.unique(_flatten(counts), axis=0, return_counts=True)
    return rows.astype("float64").reshape(len(rows), *counts.shape[1:]), times


def _flatten(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), int(np.prod(rows.shape[1:])))


def _can_be_drawn(counts: np.ndarray) -> np.ndarray:
    """Say of which things at least two documents have gold entities."""
    return (_count_gold(counts) > 0).sum(axis=0) >= 2


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


def _count_gold(counts: np.ndarray) -> np.ndarray:
    """Count the gold entities: the found and the missed ones. *Shape:* (...)."""
    return counts[..., 0] + counts[..., 2]
