"""What a trained pipeline scores, how sure that is, and what it gets wrong."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import require_gpu

from ..corpora.docbin import read_docs
from ..loading import load_trained
from .bootstrap import (
    CONFIDENCE,
    Interval,
    ScoreIntervals,
    bootstrap_scores,
    compare_scores,
)
from .confusions import ConfusionCounter
from .counts import score_counts, tabulate_counts
from .groups import (
    GROUPINGS,
    TrainingKnowledge,
    group_entity,
    learn_training_set,
)
from .matching import Matches
from .scorer import ALL, KINDS, match_entities, summarize_matches
from .scores import predict_examples
from .warnings import find_warnings

# What is counted: the prefix of a score, or a grouping; in a grouping the group; and a
# type, or None for all types.
_Key = tuple[str, str, str | None]

# True positives, false positives, false negatives.
_Counts = dict[_Key, list[int]]


def evaluate_in_depth(
    model: str | Path,
    test: str | Path,
    train: str | Path,
    *,
    against: str | Path | None = None,
    samples: int = 5000,
    seed: int = 0,
    use_gpu: int = -1,
) -> dict[str, Any]:
    """Score a pipeline with intervals, in groups, beside another one; list its errors.

    Each pipeline runs once. All that `evaluate_pipeline` gives is here too, under the
    same keys and with the same figures.

    model (str | Path): A pipeline's package name or folder.
    test (str | Path): The gold corpus, a `.spacy` file or a folder of them.
    train (str | Path): The training corpus, likewise.
    against (str | Path, optional): A second pipeline, to compare the first one with.
    samples (int): How often the bootstrap and the test of significance draw.
    seed (int): What they draw by. Equal seeds give equal results.
    use_gpu (int): The GPU's number, or -1 for the CPU.
    RAISES (FileNotFoundError): If a corpus is missing.
    RAISES (ValueError): If a corpus can't be read, there is no such GPU, or `samples`
        is not positive.
    RAISES (OSError): If there is no such pipeline.
    RETURNS (dict[str, Any]): JSON data. The scores of `score_seen_unseen`, beside each
        `p`, `r` and `f` its interval (see `bootstrap_scores`): `ents_p_interval` and,
        in each type, `p_interval`. "setting": what was evaluated, and how. "groups":
        for each of `GROUPINGS` its groups. "confusions": see `Confusion`. "comparison":
        None, or the other model and, for "all", "seen" and "unseen" entities, its
        scores and the differences (see `compare_scores`). "warnings": sentences, where
        figures may not be what they seem (see `find_warnings`).
    """
    if samples < 1:
        raise ValueError(f"'samples' should be 1 or more, but is {samples}.")
    if use_gpu >= 0:
        require_gpu(use_gpu)
    knowledge = learn_training_set(read_docs(train, Vocab()))
    # Both are loaded first: a wrong name should not cost a run.
    nlp = load_trained(model)
    other = None if against is None else load_trained(against)
    run = _Run(knowledge)
    scores = summarize_matches(run.match(nlp, test))
    draws: dict[str, Any] = {"samples": samples, "seed": seed}
    keys, counts = tabulate_counts(run.documents)
    intervals = dict(zip(keys, bootstrap_scores(counts, **draws), strict=True))
    _add_intervals(scores, intervals)
    comparison = None
    if other is not None:
        theirs = _Run(knowledge)
        their_scores = summarize_matches(theirs.match(other, test))
        comparison = {
            "model": str(against),
            **_compare(run, theirs, their_scores, draws),
        }
    evaluation = {
        "setting": {
            "model": str(model),
            "test": str(test),
            "train": str(train),
            "documents": len(run.documents),
            "documents_read": run.n_read,
            "train_entities": len(knowledge.entities),
            "confidence": CONFIDENCE,
            **draws,
        },
        **scores,
        "comparison": comparison,
        "groups": _describe_groups(keys, counts, intervals),
        "confusions": [asdict(confusion) for confusion in run.confusions.rank()],
    }
    return {**evaluation, "warnings": find_warnings(evaluation)}


class _Run:
    """Notes what there is to count while a pipeline runs once over a corpus.

    n_read (int): How many documents there were.
    documents (list[_Counts]): For each document with entity annotation its counts.
    confusions (ConfusionCounter): The errors.
    """

    def __init__(self, knowledge: TrainingKnowledge) -> None:
        self._knowledge = knowledge
        self.n_read = 0
        self.documents: list[_Counts] = []
        self.confusions = ConfusionCounter()

    def match(self, nlp: Language, test: str | Path) -> Iterator[dict[str, Matches]]:
        """Run the pipeline; yield each doc's matches once they are noted."""
        for number, example in enumerate(predict_examples(nlp, test)):
            self.n_read += 1
            matches = match_entities(example, self._knowledge.entities)
            if matches:
                counts = _count_scores(matches)
                counts.update(
                    _count_groups(example.reference, matches, self._knowledge)
                )
                self.documents.append(counts)
                self.confusions.add(number, example.reference, matches[ALL])
            yield matches


def _count_scores(views: Mapping[str, Matches]) -> _Counts:
    counts: _Counts = defaultdict(lambda: [0, 0, 0])
    for prefix, matches in views.items():
        outcomes = (matches.correct, matches.spurious, matches.missed)
        for i, keys in enumerate(outcomes):
            for label, _, _ in keys:
                counts[prefix, "", None][i] += 1
                counts[prefix, "", label][i] += 1
    return counts


def _count_groups(
    gold: Doc, views: Mapping[str, Matches], knowledge: TrainingKnowledge
) -> _Counts:
    counts: _Counts = defaultdict(lambda: [0, 0, 0])
    found = set(views[ALL].correct)
    for ent in gold.ents:
        i = 0 if (ent.label_, ent.start, ent.end) in found else 2
        for grouping, group in group_entity(ent, knowledge).items():
            counts[grouping, group, None][i] += 1
            counts[grouping, group, ent.label_][i] += 1
    return counts


def _add_intervals(
    scores: dict[str, Any], intervals: Mapping[_Key, ScoreIntervals]
) -> None:
    for prefix in KINDS.values():
        total = intervals.get((prefix, "", None))
        for key, bounds in _name(total).items():
            scores[f"{prefix}_{key}"] = bounds
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            score.update(_name(intervals.get((prefix, "", label))))


def _name(intervals: ScoreIntervals | None) -> dict[str, Interval | None]:
    return {f"{key}_interval": getattr(intervals, key, None) for key in "prf"}


def _describe_groups(
    keys: list[_Key],
    counts: np.ndarray,
    intervals: Mapping[_Key, ScoreIntervals],
) -> dict[str, list[dict[str, Any]]]:
    totals = dict(zip(keys, counts.sum(axis=0), strict=True))
    types = sorted(
        {label for prefix, _, label in keys if label and prefix in GROUPINGS}
    )

    def describe(key: _Key) -> dict[str, Any]:
        total = totals.get(key, np.zeros(3, dtype="int32"))
        support = int(total.sum())
        bounds = intervals.get(key)
        return {
            "support": support,
            "recall": float(score_counts(total)[1]) if support else None,
            "interval": bounds.r if bounds else None,
        }

    return {
        name: [
            {
                "group": group,
                **describe((name, group, None)),
                "per_type": {label: describe((name, group, label)) for label in types},
            }
            for group in grouping.groups
        ]
        for name, grouping in GROUPINGS.items()
    }


def _compare(
    ours: _Run, theirs: _Run, their_scores: Mapping[str, Any], draws: dict[str, Any]
) -> dict[str, Any]:
    both = [_stack_totals(run) for run in (ours, theirs)]
    compared = compare_scores(*both, **draws)
    return {
        kind: None
        if differences is None
        else {
            key: {"other": their_scores[f"{prefix}_{key}"], **difference}
            for key, difference in asdict(differences).items()
        }
        for (kind, prefix), differences in zip(KINDS.items(), compared, strict=True)
    }


def _stack_totals(run: _Run) -> np.ndarray:
    """Count all types together, shape (n_documents, n_kinds, 3)."""
    rows = [
        [document.get((prefix, "", None), [0, 0, 0]) for prefix in KINDS.values()]
        for document in run.documents
    ]
    return np.array(rows, dtype="int32").reshape(len(rows), len(KINDS), 3)
