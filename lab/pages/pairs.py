"""Test differences between pairs of trained embedders, for results.md.

    python -m lab.pages.pairs

The recorded counts of test documents are compared, with the seeds that both trials
have. (The CRF has no seed, and is compared with each.) The test over documents permutes
sums over seeds (`compare_scores`). The test over seeds is Welch's test of F1. Pairs are
listed in results.json. Results are written to pairs.json.
"""

import sys
import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import ttest_ind

from lab.baseline import NAME as CRF
from lab.trials.results import Groups, Result, TrialKey, read_results
from lab.trials.scores import COUNTS, unpack_counts
from spacy_hashembeds.tools.evaluate.bootstrap import Draws, compare_scores
from spacy_hashembeds.training.scorer import KINDS, score_counts

from .page import RESULTS, save
from .results import CORPORA, PAIRS, PLAN

#: The minimum number of seeds.
FEWEST_SEEDS = 3


def compare_pairs(groups: Groups) -> list[dict[str, Any]]:
    """Compare the pairs with enough seeds, for each kind of entities.

    A result is None if there are no entities of a kind, or no other kind.
    """
    of_all = product(CORPORA, PLAN["pairs"])
    compared = (_compare(groups, dataset, *pair) for dataset, pair in of_all)
    pairs = [pair for pair in compared if pair is not None]
    tests = [test for pair in pairs for test in pair["differences"].values() if test]
    for name in ("p_value", "seeds_p_value"):
        adjusted = adjust_p_values([test[name] for test in tests])
        for test, p_value in zip(tests, adjusted, strict=True):
            test[f"adjusted_{name}"] = p_value
    return pairs


def _compare(
    groups: Groups, dataset: str, first: str, second: str
) -> dict[str, Any] | None:
    """Compare two variants by the seeds of which both have counts, if enough."""
    variants = first.split("/"), second.split("/")
    keys = (TrialKey(dataset, *variant) for variant in variants)
    ours, theirs = (_read_counts(groups.get(key, [])) for key in keys)
    if variants[1][0] == CRF:
        theirs = {seed: of for of in theirs.values() for seed in ours}
    seeds = sorted(ours.keys() & theirs.keys())
    if len(seeds) < FEWEST_SEEDS:
        return None
    both = [np.stack([of[seed] for seed in seeds]) for of in (ours, theirs)]
    # unpaired, since equal seeds of two architectures have nothing in common
    f1s = [score_counts(of.sum(axis=1))[..., 2] for of in both]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal scores of all seeds
        p_values = ttest_ind(*f1s, equal_var=False).pvalue
    over_seeds = np.nan_to_num(p_values, nan=1.0).tolist()
    draws = Draws(samples=5000, seed=0)
    scores = compare_scores(both[0].sum(axis=0), both[1].sum(axis=0), draws)
    differences: dict[str, Any] = {}
    for kind, each, p_value in zip(KINDS, scores, over_seeds, strict=True):
        kept = {key: each["f"][key] for key in ("difference", "p_value") if each}
        differences[kind] = {**kept, "seeds_p_value": p_value} if each else None
    if differences["seen"] is None:  # all entities are unseen
        differences["unseen"] = None
    return {
        "dataset": dataset,
        "first": variants[0],
        "second": variants[1],
        "seeds": seeds,
        "differences": differences,
    }


def _read_counts(results: Sequence[Result]) -> dict[int, np.ndarray]:
    """Return the counts of test documents by seed, if they are recorded."""
    scores = {r.seed: r.recorded["scores"]["test"] for r in results}
    return {
        seed: unpack_counts(of_test[COUNTS], len(KINDS))
        for seed, of_test in scores.items()
        if COUNTS in of_test
    }


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
