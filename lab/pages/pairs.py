"""Estimate differences in F1 between pairs of trained pipelines, for results.md.

    python -m lab.pages.pairs

results.json names the pairs; pairs.json has the differences of mean F1 over seeds. The
variance of a difference is the sum of two: over test documents, from the recorded
counts, and over seeds, whose deviation is pooled over the pipelines of a corpus, so
that it is estimated for pipelines of a single seed too. The degrees of freedom of their
sum are Welch's and Satterthwaite's. The CRF has no seed.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy.stats import t

from lab.trials.results import Groups, Result, read_results
from lab.trials.scores import COUNTS, unpack_counts
from spacy_hashembeds.training.scorer import KINDS, score_counts

from .page import RESULTS, save
from .results import CORPORA, PAIRS, PAIRS_TESTED, find_trials, has_seed


def compare_pairs(groups: Groups) -> list[dict[str, Any]]:
    """Compare pairs with both pipelines trained, for each kind of entity. A result is
    None without entities of a kind, and for "unseen" if all entities are unseen.
    """
    compared = [pair for dataset in CORPORA for pair in _compare_on(groups, dataset)]
    tests = [of for pair in compared for of in pair["differences"].values() if of]
    adjusted = adjust_p_values([of["p_value"] for of in tests])
    for test, p_value in zip(tests, adjusted, strict=True):
        test["adjusted_p_value"] = float(f"{p_value:.4g}")
    return compared


def _compare_on(groups: Groups, dataset: str) -> Iterator[dict[str, Any]]:
    """Compare the pairs of a corpus on which any pipeline has several seeds."""
    counts = {
        trials: found
        for trials in dict.fromkeys(chain.from_iterable(PAIRS_TESTED))
        if (found := _read_counts(find_trials(groups, dataset, trials)))
    }
    variances, n_free = _pool_variances([of for x, of in counts.items() if has_seed(x)])
    for pair in PAIRS_TESTED:
        if not counts.keys() >= {*pair} or not n_free:
            continue
        both = [np.stack(counts[trials]) for trials in pair]
        seeded = variances * sum(1 / len(counts[x]) for x in pair if has_seed(x))
        compared = compare(both[0], both[1], seeded, n_free)
        differences = dict(zip(KINDS, compared, strict=True))
        if differences["seen"] is None:  # all entities are unseen
            differences["unseen"] = None
        yield {"dataset": dataset, "pair": [*pair], "differences": differences}


def compare(
    ours: np.ndarray, theirs: np.ndarray, seeded: np.ndarray, n_free: int
) -> list[dict[str, float] | None]:
    """Compare mean F1 for each kind of entities; None for kinds without gold.

    ours, theirs (ndarray): True positives, false positives and false negatives.
        *Shape:* (n_seeds, n_documents, n_kinds, 3)
    seeded (ndarray): The variance of each difference over seeds. *Shape:* (n_kinds,)
    n_free (int): Its degrees of freedom.
    """
    means, influences = zip(*map(_score, (ours, theirs)), strict=True)
    moved = influences[0] - influences[1]
    n = len(moved)
    sampled = n / (n - 1) * (moved**2).sum(axis=0)
    errors = np.sqrt(sampled + seeded)
    unsure = sampled**2 / (n - 1) + seeded**2 / n_free
    free = np.where(unsure, errors**4, 1) / np.where(unsure, unsure, 1)
    p_values = 2 * t.sf(
        np.abs(means[0] - means[1]) / np.where(errors, errors, np.inf), free
    )
    half_widths = t.ppf(0.975, free) * errors
    gold = ours[0][..., [0, 2]].sum(axis=(0, 2))  # found and missed
    return [
        {  # rounded, since last digits differ between machines
            "difference": round(difference, 6),
            "half_width": round(half_width, 6),
            "p_value": float(f"{p_value:.4g}"),
        }
        if n_gold
        else None
        for difference, half_width, p_value, n_gold in zip(
            (means[0] - means[1]).tolist(),
            half_widths.tolist(),
            p_values,
            gold,
            strict=True,
        )
    ]


def _score(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean F1 over seeds, and its influence function at each document.

    *Shape:* (n_seeds, n_documents, n_kinds, 3) -> (n_kinds,), (n_documents, n_kinds)
    """
    scores = score_counts(counts.sum(axis=1))[..., 2]
    sizes = counts @ np.array([2, 1, 1])  # F1 is 2 * true positives / size
    total = np.maximum(sizes.sum(axis=1, keepdims=True), 1)
    influence = (2 * counts[..., 0] - scores[:, None] * sizes) / total
    return scores.mean(axis=0), influence.mean(axis=0)


def _pool_variances(
    pipelines: Sequence[Sequence[np.ndarray]],
) -> tuple[np.ndarray, int]:
    """Pool the variances of F1 over seeds. Return them and their degrees of freedom,
    which are 0 without a pipeline of several seeds.

    *Shape:* (n_kinds,)
    """
    several = [np.stack(of) for of in pipelines if len(of) > 1]
    if not several:
        return np.zeros(len(KINDS)), 0
    n_free = sum(len(of) - 1 for of in several)
    scores = [score_counts(of.sum(axis=1))[..., 2] for of in several]
    squares = sum(((of - of.mean(axis=0)) ** 2).sum(axis=0) for of in scores)
    return squares / n_free, n_free


def _read_counts(results: Sequence[Result]) -> list[np.ndarray]:
    """Return the counts of test documents by seed, where they are recorded."""
    scores = (result.recorded["scores"]["test"] for result in results)
    return [unpack_counts(of[COUNTS], len(KINDS)) for of in scores if COUNTS in of]


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple tests by the method of Holm (1979)."""
    n = len(p_values)
    adjusted, largest = [0.0] * n, 0.0
    for rank, i in enumerate(sorted(range(n), key=p_values.__getitem__)):
        largest = max(largest, (n - rank) * p_values[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


if __name__ == "__main__":
    pairs = compare_pairs(read_results(RESULTS))
    save(pairs, PAIRS)
    sys.stdout.write(f"Saved {len(pairs)} comparisons to {PAIRS}\n")
