"""Run commands of spaCy, score the pipelines that they train, and record the scores."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.entities import EntityRun, TrainingKnowledge
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.prediction import predict_examples

_SCORES = ("ents_p", "ents_r", "ents_f", "ents_seen_f", "ents_unseen_f")


def run_python(*arguments: Any) -> str:
    """Run Python with arguments, and return the output."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def run_spacy(*arguments: Any) -> str:
    """Run a command of spaCy, and return the output."""
    return run_python("-m", "spacy", *arguments)


def read_knowledge(corpus: Path) -> TrainingKnowledge:
    """Read the entities of the training data of a corpus."""
    return TrainingKnowledge(read_docs(corpus / "train.spacy", Vocab()))


def score(
    nlp: Language, docs: Iterable[Doc], known: TrainingKnowledge
) -> dict[str, float]:
    """Score a pipeline on gold Docs, in percent. Scores without entities are 0."""
    found = EntityRun(predict_examples(nlp, docs), known).scores
    return {key: round(100 * (found[key] or 0), 2) for key in _SCORES}


def append_line(path: Path, result: Any) -> None:
    """Append a result to a file as a line of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf8") as file:
        file.write(json.dumps(result) + "\n")
