"""Test pairs of trained embedders on the same documents, for results.md.

    python docs/pairs.py FOLDER

FOLDER is where `spacy hashembeds sweep budgets` was run, with its `corpus`, `metrics`
and `training`. Pairs whose pipelines are there are written to pairs.json, in place of
those of the same corpus and size. The predictions of all seeds that both were trained
with are taken together, document by document: it is documents that are drawn and
exchanged (see `compare_scores`), not seeds.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.bootstrap import compare_scores
from spacy_hashembeds.evaluation.groups import TrainingKnowledge, learn_training_set
from spacy_hashembeds.evaluation.runs import Run
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.sources import name_predictions, predict
from spacy_hashembeds.report.layouts import FEWER, LOOKUP

PAIRS = Path(__file__).with_name("pairs.json")

WEIGHTED, HYBRID = "multi_weighted_hash_embed", "multi_hybrid_embed"

#: What is compared at each size, as embedder and suffix of the variant.
COMPARED = (
    ((LOOKUP, ""), (FEWER, "")),
    ((HYBRID, ""), (FEWER, "")),
    ((WEIGHTED, ""), (FEWER, "")),
    ((WEIGHTED, "_hashed"), (FEWER, "")),
    ((LOOKUP, ""), (HYBRID, "")),
)
DATASETS = ("wnut17", "anem", "conll2002_es")
BUDGETS = ("equal", "tenth")
SAMPLES = 5000

Variant = tuple[str, str]


def compare_pairs(root: Path) -> Iterator[dict[str, Any]]:
    """Compare the pairs of which both pipelines are there.

    root (Path): The folder with `corpus` and `training`.
    YIELDS (dict[str, Any]): A comparison: `dataset`, `first` and `second` (embedder and
        variant), `seeds`, and `differences` in F1, for "all", "seen" and "unseen".
    """
    for dataset in DATASETS:
        for budget in BUDGETS:
            for pair in COMPARED:
                variants = [(name, f"{budget}{suffix}") for name, suffix in pair]
                compared = _compare(root, dataset, variants)
                if compared is not None:
                    yield compared


def _compare(
    root: Path, dataset: str, variants: Sequence[Variant]
) -> dict[str, Any] | None:
    """Compare two variants on the seeds that both have, if there is one."""
    trained = [find_seeds(root, dataset, variant) for variant in variants]
    seeds = sorted(set.intersection(*trained))
    if not seeds:
        return None
    # each document's counts, of all seeds together
    first, second = (
        np.sum([_count(root, dataset, variant, seed) for seed in seeds], axis=0)
        for variant in variants
    )
    compared = compare_scores(first, second, samples=SAMPLES, seed=0)
    return {
        "dataset": dataset,
        "first": list(variants[0]),
        "second": list(variants[1]),
        "seeds": seeds,
        "differences": {
            kind: None if scores is None else asdict(scores.f)
            for kind, scores in zip(KINDS, compared, strict=True)
        },
    }


def find_seeds(root: Path, dataset: str, variant: Variant) -> set[int]:
    """Find the seeds of which there are both the results and the pipeline."""
    folder = root.joinpath("metrics", dataset, *variant)
    return {
        int(path.stem.removeprefix("seed"))
        for path in folder.glob("seed*.json")
        if _find_pipeline(root, dataset, variant, path.stem).is_dir()
    }


def _find_pipeline(root: Path, dataset: str, variant: Variant, seed: str) -> Path:
    return root.joinpath("training", dataset, *variant, seed, "model-best")


@cache
def _count(root: Path, dataset: str, variant: Variant, seed: int) -> np.ndarray:
    """Count what one pipeline finds, shape (n_documents, n_kinds, 3)."""
    nlp = spacy.load(_find_pipeline(root, dataset, variant, f"seed{seed}"))
    golds = list(_read(root, dataset, "test").get_docs(nlp.vocab))
    examples = predict(name_predictions(nlp, "nlp"), golds, dataset)
    return Run(examples, _learn(root, dataset)).stack_totals()


@cache
def _learn(root: Path, dataset: str) -> TrainingKnowledge:
    return learn_training_set(_read(root, dataset, "train").get_docs(Vocab()))


def _read(root: Path, dataset: str, split: str) -> DocBin:
    return DocBin().from_disk(root / "corpus" / dataset / f"{split}.spacy")


def update_pairs(
    old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Put new comparisons in the place of old ones of the same variants."""
    both = {
        (pair["dataset"], *pair["first"], *pair["second"]): pair
        for pair in [*old, *new]
    }
    return list(both.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    old = json.loads(PAIRS.read_text(encoding="utf8")) if PAIRS.exists() else []
    pairs = update_pairs(old, list(compare_pairs(folder)))
    PAIRS.write_text(json.dumps(pairs, indent=1) + "\n", encoding="utf8")
    sys.stdout.write(f"Saved {len(pairs)} comparisons to {PAIRS}\n")
