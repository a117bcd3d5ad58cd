"""Test pairs of trained embedders on the same documents, for results.md.

    python -m lab.pages.pairs

Tested is what trials in results/ have kept of each document of the test set, of all
seeds that both have, taken together: signs are drawn for documents (see
`compare_scores`), not for seeds. What comes out is written to pairs.json.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lab.papers.multi_hash_embeddings import FEWER, HASH, LOOKUP
from lab.trials.results import Groups, Result, TrialKey, read_results
from lab.trials.scores import COUNTS, unpack_counts
from spacy_hashembeds.evaluation.bootstrap import Draws, compare_scores
from spacy_hashembeds.evaluation.scorer import KINDS

from ..trials.metrics import read_metrics

FOLDER = Path(__file__).parents[1] / "results"
PAIRS = Path(__file__).with_name("pairs.json")

RECOMMENDED, PRETRAINED = "multi_embed_token_ner", "pretrain_recommended"
INIT_CONFIG = "init_config"
WEIGHTED, HYBRID = "multi_weighted_hash_embed", "multi_hybrid_embed"

#: What is compared, as embedder and variant: of the grids `noise` and `ladder`, and of
#: `budgets` at each size.
COMPARED = (
    ((LOOKUP, "steps2400"), (HASH, "steps2400")),
    ((LOOKUP, "steps2400_averaged"), (LOOKUP, "steps2400")),
    ((LOOKUP, "steps2400_averaged"), (HASH, "steps2400")),
    ((LOOKUP, "steps2400_averaged"), (HASH, "steps2400_averaged")),
    ((RECOMMENDED, "steps2400_averaged"), (LOOKUP, "steps2400_averaged")),
    ((RECOMMENDED, "steps2400_averaged"), (HASH, "steps2400")),
    ((RECOMMENDED, "min_freq3"), (RECOMMENDED, "steps2400_averaged")),
    ((RECOMMENDED, "min_freq3"), (HASH, "steps2400")),
    ((RECOMMENDED, "dropout03"), (RECOMMENDED, "steps2400_averaged")),
    ((RECOMMENDED, "dropout03"), (HASH, "steps2400")),
    ((PRETRAINED, "pretrained2400"), (RECOMMENDED, "depth4")),
    ((PRETRAINED, "pretrained2400_dropout03"), (PRETRAINED, "pretrained2400")),
    ((PRETRAINED, "pretrained2400_dropout03"), (HASH, "steps2400")),
    ((f"{INIT_CONFIG}_recommended", "default"), (INIT_CONFIG, "default")),
    *(
        ((first, f"{budget}{suffix}"), (second, budget))
        for budget in ("equal", "tenth")
        for first, suffix, second in (
            (LOOKUP, "", FEWER),
            (HYBRID, "", FEWER),
            (WEIGHTED, "", FEWER),
            (WEIGHTED, "_hashed", FEWER),
            (LOOKUP, "", HYBRID),
        )
    ),
)
DATASETS = ("wnut17", "anem", "conll2002_es", "conll2002_nl", "archaeology")
SAMPLES = 5000

#: With fewer, a test of documents can't tell what a trial did from what a seed did.
FEWEST_SEEDS = 3

Variant = tuple[str, str]


def compare_pairs(groups: Groups) -> list[dict[str, Any]]:
    """Compare the pairs that can be, for each kind of entities.

    A comparison is None without entities of a kind, and of "unseen" ones if all are.
    """
    compared = (
        _compare(groups, dataset, *variants)
        for dataset in DATASETS
        for variants in COMPARED
    )
    pairs = [pair for pair in compared if pair is not None]
    _adjust(pairs)
    return pairs


def _compare(
    groups: Groups, dataset: str, first: Variant, second: Variant
) -> dict[str, Any] | None:
    """Compare two variants on the seeds of which both have counts, if enough."""
    ours, theirs = (
        read_counts(groups.get(TrialKey(dataset, *variant), []))
        for variant in (first, second)
    )
    seeds = sorted(ours.keys() & theirs.keys())
    if len(seeds) < FEWEST_SEEDS:
        return None
    # each document's counts, of all seeds together
    sums = [np.sum([of[seed] for seed in seeds], axis=0) for of in (ours, theirs)]
    scores = compare_scores(sums[0], sums[1], Draws(samples=SAMPLES, seed=0))
    differences = dict(zip(KINDS, scores, strict=True))
    if differences["seen"] is None:  # the unseen are all, and one test is enough
        differences["unseen"] = None
    return {
        "dataset": dataset,
        "first": list(first),
        "second": list(second),
        "seeds": seeds,
        "differences": {
            kind: d and {"difference": d.f.difference, "p_value": d.f.p_value}
            for kind, d in differences.items()
        },
    }


def read_counts(results: Sequence[Result]) -> dict[int, np.ndarray]:
    """Read what documents of the test set count, by seed, where trials have kept it."""
    scores = {r.seed: read_metrics(r.path)["scores"]["test"] for r in results}
    return {
        seed: unpack_counts(of_test[COUNTS], len(KINDS))
        for seed, of_test in scores.items()
        if COUNTS in of_test
    }


def _adjust(pairs: Sequence[dict[str, Any]]) -> None:
    """Put beside each p-value what it is among so many."""
    tests = [test for pair in pairs for test in pair["differences"].values() if test]
    adjusted = adjust_p_values([test["p_value"] for test in tests])
    for test, p_value in zip(tests, adjusted, strict=True):
        test["adjusted_p_value"] = p_value


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, as Holm (1979) does.

    Where nothing differs, one of them is below 0.05 in at most 5 percent of all
    families of tests, however the tests depend on each other.
    """
    n = len(p_values)
    adjusted, largest = [0.0] * n, 0.0
    for rank, i in enumerate(sorted(range(n), key=p_values.__getitem__)):
        largest = max(largest, (n - rank) * p_values[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


if __name__ == "__main__":
    pairs = compare_pairs(read_results(FOLDER))
    PAIRS.write_text(json.dumps(pairs, indent=1) + "\n", encoding="utf8")
    sys.stdout.write(f"Saved {len(pairs)} comparisons to {PAIRS}\n")
