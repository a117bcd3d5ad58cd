"""Documents drawn anew, and predictions exchanged, a block of draws at a time."""

from collections.abc import Callable, Iterator

import numpy as np
from tqdm import tqdm  # type: ignore[import-untyped]

from ..checks import check_integers

#: The most draws. Bounds are steady long before, and draws are kept in memory.
MAX_SAMPLES = 1_000_000

#: Cells of a matrix, of weights or of sums, that are in memory at a time.
_CELLS = 4_000_000

#: Scores sums of counts, shape (n_draws, ...), for each draw on its own.
Score = Callable[[np.ndarray], np.ndarray]


class Blocks:
    """Cuts draws into blocks whose weights fit in memory, and shows their progress.

    samples (int): How many draws there are, up to `MAX_SAMPLES`.
    title (str): What is done.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (ValueError): If there is no draw, or too many.
    """

    def __init__(self, samples: int, title: str, show_progress: bool) -> None:
        check_integers(1, MAX_SAMPLES, samples=samples)
        self.samples = samples
        self._title = title
        self._show_progress = show_progress

    def split(self, width: int) -> Iterator[int]:
        """Give the sizes of blocks of draws, of which each draw has that many cells."""
        size = max(1, _CELLS // max(1, width))
        disable = None if self._show_progress else True
        with tqdm(
            desc=self._title, total=self.samples, leave=False, disable=disable
        ) as bar:
            for i in range(0, self.samples, size):
                n_draws = min(size, self.samples - i)
                yield n_draws
                bar.update(n_draws)


def resample(
    rows: np.ndarray, times: np.ndarray, score: Score, blocks: Blocks, seed: int
) -> np.ndarray:
    """Score documents drawn with replacement, as many as there are.

    Documents with equal counts are alike here, so that it is enough to draw how often
    each distinct row comes up.

    rows (ndarray): The distinct counts, shape (n_rows, ...).
    times (ndarray): How many documents have each of them, shape (n_rows,).
    score (Score): Scores the sums of draws, shape (n_draws, ...).
    RETURNS (ndarray): The scores, shape (samples, ...).
    """
    if not len(rows):
        return score(np.zeros((blocks.samples, *rows.shape[1:])))
    flat, n_documents = _flatten(rows), times.sum()
    rng = np.random.default_rng(seed)
    scores = []
    for n_draws in blocks.split(max(flat.shape)):
        weights = rng.multinomial(n_documents, times / n_documents, n_draws)
        sums = weights.astype("float64") @ flat
        scores.append(score(sums.reshape(n_draws, *rows.shape[1:])))
    return np.concatenate(scores)


def count_as_large(
    ours: np.ndarray, theirs: np.ndarray, score: Score, blocks: Blocks, seed: int
) -> np.ndarray:
    """Count how often exchanged predictions differ as much as those that were made.

    The predictions of a document are exchanged with probability 1/2.

    ours (ndarray): Counts of the first, shape (n_documents, ...).
    theirs (ndarray): Those of the second.
    score (Score): Scores sums of them.
    RETURNS (ndarray): For each score in how many draws the difference is at least as
        large as it is, in either direction.
    """
    sums = [counts.sum(axis=0, keepdims=True) for counts in (ours, theirs)]
    measured = score(sums[0]) - score(sums[1])
    rows, times = find_distinct(theirs - ours)
    gains = _flatten(rows)
    rng = np.random.default_rng(seed)
    n_as_large = np.zeros(measured.shape[1:], dtype="int64")
    for n_draws in blocks.split(max(gains.shape)):
        swaps = rng.binomial(times, 0.5, size=(n_draws, len(gains)))
        exchanged = swaps.astype("float64") @ gains
        exchanged = exchanged.reshape(n_draws, *ours.shape[1:])
        differences = score(sums[0] + exchanged) - score(sums[1] - exchanged)
        # Equal differences may differ by rounding.
        n_as_large += (np.abs(differences) >= np.abs(measured) - 1e-12).sum(axis=0)
    return n_as_large


def find_distinct(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the distinct counts of documents, and how often each is there."""
    rows, times = np.unique(_flatten(counts), axis=0, return_counts=True)
    return rows.astype("float64").reshape(len(rows), *counts.shape[1:]), times


def _flatten(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
