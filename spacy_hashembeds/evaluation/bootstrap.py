"""Bootstrap intervals of scores over documents.

Whole documents are drawn: entities of one share its topic, author and casing. The
pipelines are held fixed: nothing here says what another training seed would give.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm  # type: ignore[import-untyped]

from ..checks import check_integers, check_types
from .counts import count_gold, score_counts

#: The share of draws between the bounds of an interval.
CONFIDENCE = 0.95

#: Cells of a matrix, and draws of scores, that are in memory at a time.
_CELLS, _DRAWN = 4_000_000, 16_000_000

# What true positives are divided by, from counts: for precision, recall and F1.
_DIVISORS = np.array([[1, 1, 1], [1, 0, 0.5], [0, 1, 0.5]])


class Scores(NamedTuple):
    """Precision, recall and F1 with their intervals. Intervals are None if not two
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
    """Settings of the draws: the arguments of `evaluate`."""

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

    def split_things(self, n: int) -> Iterator[slice]:
        """Give parts of n things, of which all draws are in memory at a time."""
        size = max(1, _DRAWN // (3 * self.samples))
        return (slice(i, i + size) for i in range(0, n, size))

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
    rows, times = np.unique(counts, axis=0, return_counts=True)
    intervals = [NONE] * counts.shape[1]
    drawable = np.flatnonzero(_count_documents(counts) >= 2)
    for part in draws.split_things(len(drawable)):
        things = drawable[part]
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

    Each document has a part in a difference: its true positives beyond the share that
    both pipelines have together. Were these alike, its sign could as well be opposite:
    p is how often the difference, in its standard errors, is at least as large, in
    either direction, with signs drawn at random (Hemerik, Goeman and Finos 2020), the
    data themselves counted in; of accuracies, McNemar's exact test. The interval is the
    difference plus and minus as many of its standard errors as `CONFIDENCE` of draws
    don't exceed: it excludes 0 where p is at most 0.05.
    """
    compared: list[Scores | None] = []
    for things in draws.split_things(ours.shape[1]):
        compared += _compare(ours[:, things], theirs[:, things], draws)
    return compared


def bootstrap_mean(counts: np.ndarray, draws: Draws, *, absent: int = 0) -> Scores:
    """Give the mean over things its interval, as `bootstrap_scores` does for each.

    A score with nothing to divide by is 0, as that of `absent` more things which no
    document has. A draw leaves out gold things that it lacks: it says nothing of them.
    """
    if _count_documents(counts.sum(axis=1, keepdims=True))[0] < 2:
        return NONE
    is_gold = _count_documents(counts) > 0

    def average(sums: np.ndarray) -> np.ndarray:
        is_there = (~is_gold | (count_gold(sums) > 0))[..., None]
        scores = np.nan_to_num(score_counts(sums)) * is_there
        n_things = is_there.sum(axis=-2, keepdims=True) + absent
        return scores.sum(axis=-2, keepdims=True) / n_things

    rows, times = np.unique(counts, axis=0, return_counts=True)
    return _bound(_resample(rows, times, average, draws)[:, 0])


def compare_means(
    ours: np.ndarray, theirs: np.ndarray, draws: Draws, *, absent: int = 0
) -> Scores | None:
    """Compare the means of `bootstrap_mean` as `compare_scores` does scores."""
    n_things = ours.shape[1]
    weights = np.full((n_things, 1), 1 / max(1, n_things + absent))
    return _compare(ours, theirs, draws, weights)[0]


def _compare(
    ours: np.ndarray,
    theirs: np.ndarray,
    draws: Draws,
    weights: np.ndarray | None = None,
) -> list[Scores | None]:
    """Compare things, or means of them with these weights: (n_things, n_means)."""
    if ours.shape != theirs.shape:
        raise ValueError(
            "'ours' and 'theirs' should count the same things in the same documents, "
            f"but their shapes are {ours.shape} and {theirs.shape}."
        )
    golds = count_gold(ours)
    n_documents = ((golds if weights is None else golds @ weights) > 0).sum(axis=0)
    differences, parts, shares = _split(np.stack([ours, theirs]), weights)
    p_values, margins = _flip_signs(differences, parts, shares, draws)
    margins[n_documents < 2] = 0
    table = np.stack([differences, margins, p_values], axis=-1).tolist()
    return [
        Scores(*(_describe(*row) for row in rows)) if n else None
        for n, rows in zip(n_documents, table, strict=True)
    ]


def _describe(difference: float, margin: float, p_value: float) -> Difference:
    bounds = max(-1.0, difference - margin), min(1.0, difference + margin)
    return Difference(difference, bounds if margin else None, p_value)


def _split(counts: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Give differences (n_means, 3), and documents' parts in them and shares in what
    would be another, (n_documents, n_means, 3).
    """
    sums = counts.sum(axis=1)
    divisors = sums @ _DIVISORS
    both_are = divisors.all(axis=0)
    divisors = np.maximum(divisors, 0.5)  # nothing of nothing is 0
    first, second = sums[..., :1] / divisors
    common = both_are * sums[..., :1].sum(axis=0) / divisors.sum(axis=0)
    beyond = np.eye(3, 1) - common[:, None] * _DIVISORS
    own = _DIVISORS / (divisors * (1 / divisors).sum(axis=0))[:, :, None]
    slopes = np.stack([[beyond, -beyond], own]) / divisors[:, :, None]
    # Both are linear in a document's counts (c) of things (t) by one pipeline or the
    # other (o): no array has documents (n), things and scores (s) at a time.
    differences, largest = first - second, np.abs(slopes[0]).max(axis=(0, 2))
    if weights is None:
        parts, shares = np.einsum("ontc,potcs->pnts", counts, slopes)
    else:
        averaged = np.einsum("potcs,tm->potcms", slopes, weights)
        parts, shares = np.einsum("ontc,potcms->pnms", counts, averaged)
        differences, largest = weights.T @ differences, weights.T @ largest
    parts[np.abs(parts) <= 1e-12 * largest * counts.max(initial=0)] = 0  # rounding
    shares /= np.maximum(shares.sum(axis=0), 1e-100)
    return differences, parts, shares


def _flip_signs(
    differences: np.ndarray, parts: np.ndarray, shares: np.ndarray, draws: Draws
) -> tuple[np.ndarray, np.ndarray]:
    """Give p-values, and how large a difference has one of 1 - `CONFIDENCE`."""
    squares, products = (parts**2).sum(axis=0), parts * shares
    errors = ((parts - differences * shares) ** 2).sum(axis=0)
    least = 1e-12 * squares + 1e-100  # less is rounding
    found = [differences[None] ** 2 / np.maximum(errors, least)]
    rng = np.random.default_rng(draws.seed)
    for n_draws in draws.split("Drawing signs", max(parts.shape)):
        signs = 2.0 * rng.integers(0, 2, (n_draws, len(parts)), dtype="int8") - 1
        drawn, crossed = (np.tensordot(signs, of, 1) for of in (parts, products))
        varied = squares - 2 * drawn * crossed + drawn**2 * (shares**2).sum(axis=0)
        found.append(drawn**2 / np.maximum(varied, least))
    tested = np.concatenate(found)
    n_as_large = (tested >= tested[0] - 1e-9 * (1 + tested[0])).sum(axis=0)
    n_beyond = int((1 - CONFIDENCE) * len(tested))
    tested.partition(-1 - n_beyond, axis=0)
    margins = np.sqrt(tested[-1 - n_beyond] * errors)
    rounded = np.maximum(margins, np.abs(differences) * (n_as_large > n_beyond))
    return n_as_large / len(tested), rounded * (errors > least)


def _resample(
    rows: np.ndarray, times: np.ndarray, score: Callable[..., np.ndarray], draws: Draws
) -> np.ndarray:
    rows, n_documents = rows.astype("float64"), times.sum()
    rng = np.random.default_rng(draws.seed)
    scores = []
    for n_draws in draws.split("Drawing documents", max(len(rows), rows[0].size)):
        weights = rng.multinomial(n_documents, times / n_documents, n_draws)
        scores.append(score(np.tensordot(weights.astype("float64"), rows, 1)))
    return np.concatenate(scores)


def _score_draws(sums: np.ndarray) -> np.ndarray:
    """Score draws, but recall without gold entities as NaN, where spaCy's is 0: a rare
    type that is not there is not one that isn't found.
    """
    scores = score_counts(sums)
    scores[count_gold(sums) == 0, 1] = np.nan
    return scores


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
