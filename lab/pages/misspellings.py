"""Score trained pipelines on test sets with misspelt entities, for trials.md.

    python -m lab.pages.misspellings FOLDER

FOLDER contains the `corpus`, `metrics` and `training` of trials. Finished pipelines are
scored on the test set and on three misspelt copies, for misspellings.json. Entities
count as seen by their original words.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from lab.corpora.misspellings import misspell
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.entities import EntityRun, TrainingKnowledge
from spacy_hashembeds.tools.evaluate.sources import predict_examples
from spacy_hashembeds.training.scorer import KINDS

from .page import find_models, name_trial, read_splits, record

MISSPELLINGS = Path(__file__).with_name("misspellings.json")

DATASETS = ("wnut17", "conll2002_es")
SEEDS = (0, 1, 2)


def measure(root: Path) -> Iterator[dict[str, Any]]:
    """Measure P, R and F1 on the test set (`scores`) and on each copy (`misspelt`)."""
    for dataset in DATASETS:
        if not (models := find_models(root, dataset)):
            continue
        train, test = read_splits(root, dataset, "train", "test")
        knowledge, golds = TrainingKnowledge(train), [doc for doc in test if len(doc)]
        copies = [misspell(golds, seed=seed) for seed in SEEDS]
        for model in models:
            nlp = load_trained(model)
            yield {
                **name_trial(model),
                "scores": _score(nlp, golds, golds, knowledge),
                "misspelt": [_score(nlp, docs, golds, knowledge) for docs in copies],
            }


def _score(
    nlp: Language, docs: list[Doc], golds: list[Doc], knowledge: TrainingKnowledge
) -> dict[str, dict[str, float | None]]:
    """Score a pipeline on docs, which are the gold docs or copies."""
    scores = EntityRun(predict_examples(nlp, docs), knowledge, golds).scores
    return {
        kind: {key: scores[f"{prefix}_{key}"] for key in "prf"}
        for kind, prefix in KINDS.items()
        if scores[f"{prefix}_support"]
    }


if __name__ == "__main__":
    record(measure(Path(sys.argv[1])), MISSPELLINGS)
