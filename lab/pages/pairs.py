"""Test pairs of trained embedders on the same documents, for results.md.

    python -m lab.pages.pairs

Tested twice is what trials in results/ have kept of each document of the test set, for
all seeds that both have; the CRF, which has none, stands beside each seed of the other.
Over documents, signs are drawn for the sums of these seeds (see `compare_scores`):
would other documents say so, of these very pipelines? Over seeds, Welch's test is of
the F1 of each: would other seeds, of these documents? What comes out is written to
pairs.json.
"""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_ind

from lab.baseline.recognizer import NAME as CRF
from lab.papers.multi_hash_embeddings import FEWER, HASH, LOOKUP
from lab.trials.results import Groups, Result, TrialKey, read_results
from lab.trials.scores import COUNTS, unpack_counts
from spacy_hashembeds.evaluation.bootstrap import Draws, compare_scores
from spacy_hashembeds.evaluation.counts import score_counts
from spacy_hashembeds.evaluation.scorer import KINDS

from .markdown import save

FOLDER = Path(__file__).parents[1] / "results"
PAIRS = Path(__file__).with_name("pairs.json")

RECOMMENDED, TOKEN_NER = "subword_token_ner", "multi_embed_token_ner"
PRETRAINED = "pretrain_recommended"
INIT_CONFIG = "init_config"
WEIGHTED, HYBRID = "multi_weighted_hash_embed", "multi_hybrid_embed"

#: What is compared, as embedder and variant: of the grids `noise` and `ladder`, and of
#: `budgets` at each size.
COMPARED = (
    ((LOOKUP, "steps2400"), (HASH, "steps2400")),
    ((LOOKUP, "steps2400_averaged"), (LOOKUP, "steps2400")),
    ((LOOKUP, "steps2400_averaged"), (HASH, "steps2400")),
    ((LOOKUP, "steps2400_averaged"), (HASH, "steps2400_averaged")),
    ((TOKEN_NER, "steps2400_averaged"), (LOOKUP, "steps2400_averaged")),
    ((RECOMMENDED, "joined"), (HASH, "steps2400")),
    ((RECOMMENDED, "joined"), (HASH, "steps2400_averaged")),
    ((RECOMMENDED, "joined"), (HASH, "joined_averaged")),
    ((RECOMMENDED, "joined"), (CRF, "default")),
    ((RECOMMENDED, "joined_steps4800"), (RECOMMENDED, "joined")),
    ((RECOMMENDED, "joined_steps4800"), (CRF, "default")),
    ((RECOMMENDED, "joined_balanced"), (CRF, "default")),
    ((RECOMMENDED, "joined_balanced_dropout03"), (CRF, "default")),
    ((TOKEN_NER, "dropout03"), (TOKEN_NER, "steps2400_averaged")),
    ((HASH, "dropout03"), (HASH, "steps2400")),
    ((PRETRAINED, "pretrained2400"), (TOKEN_NER, "depth4")),
    ((PRETRAINED, "pretrained2400_dropout03"), (PRETRAINED, "pretrained2400")),
    ((PRETRAINED, "pretrained2400"), (HASH, "steps2400")),
    ((f"{INIT_CONFIG}_recommended", "dropout01"), (INIT_CONFIG, "default")),
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

#: With fewer, seeds have next to nothing to test.
FEWEST_SEEDS = 3

#: The p-values of a test: over documents, and over seeds.
P_VALUES = ("p_value", "seeds_p_value")

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
    if second[0] == CRF:
        theirs = {seed: of for of in theirs.values() for seed in ours}
    seeds = sorted(ours.keys() & theirs.keys())
    if len(seeds) < FEWEST_SEEDS:
        return None
    both = [np.stack([of[seed] for seed in seeds]) for of in (ours, theirs)]
    over_seeds = _test_seeds(*both)
    # each document's counts, of all seeds together
    draws = Draws(samples=SAMPLES, seed=0)
    scores = compare_scores(both[0].sum(axis=0), both[1].sum(axis=0), draws)
    differences = {
        kind: each
        and {
            "difference": each.f.difference,
            "p_value": each.f.p_value,
            "seeds_p_value": p_value,
        }
        for kind, each, p_value in zip(KINDS, scores, over_seeds, strict=True)
    }
    if differences["seen"] is None:  # the unseen are all, and one test is enough
        differences["unseen"] = None
    return {
        "dataset": dataset,
        "first": list(first),
        "second": list(second),
        "seeds": seeds,
        "differences": differences,
    }


def _test_seeds(ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    """Give p of the mean F1 over seeds for each thing, 1 where there is no entity.

    *Shape:* `(n_seeds, n_documents, n_things, 3)`. By Welch's test: deviations differ,
    and two architectures with the same seed have nothing in common.
    """
    f1s = [score_counts(of.sum(axis=1))[..., 2] for of in (ours, theirs)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of seeds that are all equal
        p_values = ttest_ind(*f1s, equal_var=False).pvalue
    return np.nan_to_num(p_values, nan=1.0).tolist()


def read_counts(results: Sequence[Result]) -> dict[int, np.ndarray]:
    """Read what documents of the test set count, by seed, where trials have kept it."""
    scores = {r.seed: r.recorded["scores"]["test"] for r in results}
    return {
        seed: unpack_counts(of_test[COUNTS], len(KINDS))
        for seed, of_test in scores.items()
        if COUNTS in of_test
    }


def _adjust(pairs: Sequence[dict[str, Any]]) -> None:
    """Put beside each p-value what it is among so many of its kind."""
    tests = [test for pair in pairs for test in pair["differences"].values() if test]
    for name in P_VALUES:
        adjusted = adjust_p_values([test[name] for test in tests])
        for test, p_value in zip(tests, adjusted, strict=True):
            test[f"adjusted_{name}"] = p_value


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
    save(pairs, PAIRS)
    sys.stdout.write(f"Saved {len(pairs)} comparisons to {PAIRS}\n")
