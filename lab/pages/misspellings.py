"""Run trained pipelines on test sets with misspelt entities, for trials.md.

    python -m lab.pages.misspellings FOLDER

FOLDER is where trials or sweeps were run, with their `corpus`, `metrics` and
`training`. Each pipeline on these corpora that is done reads the test set as it is, and
misspelt by three seeds, the same for all pipelines. Its scores are written to
misspellings.json, in place of those of the same corpus, variant and seed. Entities are
seen or unseen by their words before they were misspelt.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from lab.corpora.misspellings import misspell
from lab.trials.results import TrialKey
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.entities import EntityRun
from spacy_hashembeds.evaluation.groups import TrainingKnowledge, learn_training_set
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.sources import find_golds, predict_examples
from spacy_hashembeds.loading import load_trained

from .markdown import read_measured, save

MISSPELLINGS = Path(__file__).with_name("misspellings.json")

DATASETS = ("wnut17", "conll2002_es")
SEEDS = (0, 1, 2)

Scores = dict[str, dict[str, float | None]]


def measure(root: Path) -> Iterator[dict[str, Any]]:
    """Run all pipelines that are done.

    Each has precision, recall and F1 of "all", "seen" and "unseen" entities: `scores`,
    and the same for each misspelling of the test set, `misspelt`.
    """
    for dataset in DATASETS:
        if not (models := find_models(root, dataset)):
            continue
        train, test = read_splits(root, dataset, "train", "test")
        knowledge, golds = learn_training_set(train), find_golds(test)
        copies = [misspell(golds, seed=seed) for seed in SEEDS]
        for model in models:
            nlp = load_trained(model)
            yield {
                **name_trial(model),
                "scores": _score(nlp, golds, golds, knowledge),
                "misspelt": [_score(nlp, docs, golds, knowledge) for docs in copies],
            }


def find_models(root: Path, dataset: str, trial: str = "*/*") -> list[Path]:
    """Find the pipelines of trials ("EMBEDDER/VARIANT") that are done."""
    results = sorted((root / "metrics" / dataset).glob(f"{trial}/seed*.json"))
    names = [path.relative_to(root / "metrics").with_suffix("") for path in results]
    models = [root / "training" / name / "model-best" for name in names]
    return [model for model in models if model.is_dir()]


def read_splits(root: Path, dataset: str, *splits: str) -> Iterator[list[Doc]]:
    """Read splits of a corpus."""
    for split in splits:
        path = root / "corpus" / dataset / f"{split}.spacy"
        yield list(read_docs(path, Vocab()))


def name_trial(model: Path) -> dict[str, Any]:
    """Name the trial of a pipeline that was found."""
    *names, seed = model.parts[-5:-1]
    key = TrialKey(*names)
    return {**key._asdict(), "seed": int(seed.removeprefix("seed"))}


def _score(
    nlp: Language, docs: list[Doc], golds: list[Doc], knowledge: TrainingKnowledge
) -> Scores:
    """Score what a pipeline finds in docs, which are the gold docs or copies."""
    scores = EntityRun(predict_examples(nlp, docs), knowledge, golds).scores
    return {
        kind: {key: scores[f"{prefix}_{key}"] for key in "prf"}
        for kind, prefix in KINDS.items()
        if scores[f"{prefix}_support"]
    }


def record(measured: Iterable[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """Save measurements, in the place of old ones of the same pipelines; give all."""
    keys = ("dataset", "embedder", "variant", "seed")
    old = read_measured(path) if path.exists() else []
    rows = {tuple(row[key] for key in keys): row for row in old}
    for row in measured:
        rows[tuple(row[key] for key in keys)] = row
        save([rows[name] for name in sorted(rows)], path)  # at once: a run is long
        sys.stdout.write(f"Measured {row['dataset']}, seed {row['seed']}\n")
    return [rows[name] for name in sorted(rows)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    record(measure(parser.parse_args().folder), MISSPELLINGS)
