"""Categories of documents, scored as by scikit-learn's `accuracy_score` and `f1_score`.

spaCy's `Scorer.score_cats` differs: it knows no other labels than the pipeline's, and
counts a document without gold category as a wrong prediction.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from spacy.training import Example

from ..files import quote
from .bootstrap import (
    Draws,
    bootstrap_mean,
    bootstrap_scores,
    compare_means,
    compare_scores,
    describe_differences,
    name_intervals,
)
from .confusions import ErrorCounter, find_wrong_labels
from .counts import Counts, Run, describe_counts, make_counts
from .groups import count_shared, identify
from .sources import Input, Inputs, get_reference
from .tasks import Classes, find_classes

#: "macro" is the mean of the labels' scores, "micro" counts all documents' together.
AVERAGES = ("macro", "micro")

#: All scores of a corpus, but those of each label.
SCORES = ("cats_acc", *(f"cats_{name}_{key}" for name in AVERAGES for key in "prf"))

SUPPORT, EXCLUSIVE = "cats_support", "cats_exclusive"

#: Keys, beside labels, of all labels of a document together, and of whether they are
#: all right: its precision, recall and F1 are the accuracy.
MICRO, ACCURACY = ("micro",), ("accuracy",)

#: The most labels of a matrix. Its cells that are not 0 stand among the errors too.
MAX_MATRIX = 500


#: The gold labels of one document, and the predicted ones.
Judgement = tuple[frozenset[str], frozenset[str]]


class CategoryRun(Run):
    """Counts labels of documents, and notes which are wrong, as `errors`."""

    def __init__(self, examples: Iterable[Example], classes: Classes) -> None:
        self.classes = classes
        self.threshold = None if classes.exclusive else classes.threshold
        self.judgements: list[Judgement] = []
        self.errors = ErrorCounter()
        super().__init__(examples)

    def count(self, number: int, example: Example) -> Counts | None:
        """Count the labels of one document by their names, `MICRO` and `ACCURACY`."""
        judgement = judge(example, self.classes)
        if judgement is None:
            return None
        self.judgements.append(judgement)
        exclusive, doc = self.classes.exclusive, example.reference
        self.errors.add(find_wrong_labels(number, doc, *judgement, exclusive=exclusive))
        gold, predicted = judgement
        counts = make_counts()
        outcomes = (gold & predicted, predicted - gold, gold - predicted)
        for i, labels in enumerate(outcomes):
            counts[MICRO][i] = len(labels)
            for label in labels:
                counts[label][i] = 1
        is_wrong = int(gold != predicted)
        counts[ACCURACY] = [1 - is_wrong, is_wrong, is_wrong]
        return counts

    def list_labels(self) -> list[str]:
        """List the labels of the classifier, then those that only gold docs have."""
        gold = frozenset().union(*(gold for gold, _ in self.judgements))
        return [*self.classes.labels, *sorted(gold.difference(self.classes.labels))]

    def score(self, labels: Sequence[str]) -> dict[str, Any]:
        """Score labels: see docs/sweep.md. None without documents."""
        setting = {SUPPORT: len(self.documents), EXCLUSIVE: self.classes.exclusive}
        if not self.documents:
            return {**dict.fromkeys((*SCORES, "cats_per_type")), **setting}
        per_type = {label: describe_counts(self.totals[label]) for label in labels}
        each = [[score[key] for key in "prf"] for score in per_type.values()]
        macro = np.array(each).reshape(-1, 3).mean(axis=0).tolist()
        micro = describe_counts(self.totals[MICRO])
        return {
            "cats_acc": self.totals[ACCURACY][0] / len(self.documents),
            **{f"cats_macro_{k}": v for k, v in zip("prf", macro, strict=True)},
            **{f"cats_micro_{k}": micro[k] for k in "prf"},
            "cats_per_type": per_type,
            **setting,
        }

    def make_matrix(self, labels: Iterable[str]) -> dict[str, Any] | None:
        """Count how often each label is taken for each other, as scikit-learn's
        `confusion_matrix`. None where they are not exclusive, or too many.
        """
        found = set(self.list_keys())
        labels = [label for label in labels if label in found]
        if not self.classes.exclusive or not 0 < len(labels) <= MAX_MATRIX:
            return None
        pairs = Counter((*gold, *(other or [None])) for gold, other in self.judgements)
        return {
            "labels": labels,
            "counts": [[pairs[gold, other] for other in labels] for gold in labels],
            "unpredicted": [pairs[gold, None] for gold in labels],
        }


def evaluate_categories(inputs: Inputs) -> dict[str, Any]:
    """Give what an `Evaluation` of categories holds: see `evaluate`."""
    sources = [source for source in (inputs.predictions, inputs.against) if source]
    runs = [_run(source, inputs) for source in sources]
    ours, theirs = runs[0], runs[-1]
    labels = ours.list_labels()
    # of others there may be thousands, which nothing is to be drawn of
    found = {key for run in runs for key in run.list_keys()}
    occurring = [label for label in labels if label in found]
    shared = None
    if inputs.train is not None:
        known = set(map(identify, inputs.read_train()))
        shared = count_shared(map(get_reference, inputs.gold.docs), known)
    comparison = None
    if inputs.against is not None:
        compared = _compare(ours, theirs, labels, occurring, inputs.draws)
        comparison = {"model": inputs.against.name, **compared}
    scores = ours.score(labels)
    return {
        "setting": {
            **inputs.describe(ours),
            "labels": sorted(ours.classes.labels),
            "threshold": ours.threshold,
            "assumed": [
                {
                    "model": source.name,
                    "exclusive": run.classes.exclusive,
                    "threshold": run.threshold,
                }
                for source, run in zip(sources, runs, strict=True)
                if not source.is_pipeline
            ],
            "shared": shared,
        },
        **scores,
        "matrix": ours.make_matrix(labels),
        "comparison": comparison,
        "confusions": ours.errors.rank(),
        **_draw_intervals(scores["cats_per_type"] or {}, ours, occurring, inputs.draws),
    }


def _run(source: Input, inputs: Inputs) -> CategoryRun:
    """Run a pipeline, or read predictions, whose labels are exclusive if gold docs with
    categories have one each.
    """
    if source.is_pipeline:
        classes = find_classes(source.docs)
    else:
        source = replace(source, docs=list(source.docs))
        predicted = (label for doc in source.docs for label in getattr(doc, "cats", ()))
        golds = (get_reference(doc).cats for doc in inputs.gold.docs)
        n_labels = [sum(value > 0 for value in cats.values()) for cats in golds if cats]
        exclusive = all(n == 1 for n in n_labels)
        classes = Classes(labels=list(dict.fromkeys(predicted)), exclusive=exclusive)
    names = {"model": source.name, "test": inputs.gold.name}
    return CategoryRun(check_numbers(inputs.predict(source), **names), classes)


def _draw_intervals(
    per_type: Mapping[str, dict[str, Any]],
    run: CategoryRun,
    occurring: Sequence[str],
    draws: Draws,
) -> dict[str, Any]:
    """Give the intervals of the averages, and add those of labels to their scores."""
    counts = run.stack([*occurring, MICRO, ACCURACY])
    *intervals, micro, accuracy = bootstrap_scores(counts, draws)
    absent = len(per_type) - len(occurring)
    macro = bootstrap_mean(counts[:, :-2], draws, absent=absent)
    of_labels = dict(zip(occurring, intervals, strict=True))
    for label, score in per_type.items():
        score |= name_intervals(of_labels.get(label))
    return {
        "cats_acc_interval": accuracy.f,
        **name_intervals(macro, "cats_macro_"),
        **name_intervals(micro, "cats_micro_"),
    }


def _compare(
    ours: CategoryRun,
    theirs: CategoryRun,
    labels: Sequence[str],
    occurring: Sequence[str],
    draws: Draws,
) -> dict[str, Any]:
    if ours.numbers != theirs.numbers:
        raise ValueError(
            "Both pipelines should be scored on the same documents, but one has labels "
            "that exclude each other, and leaves out those without a label. Give all "
            "documents of the gold corpus a label, or compare pipelines of one kind."
        )
    keys = [MICRO, ACCURACY]
    micro, accuracy = compare_scores(ours.stack(keys), theirs.stack(keys), draws)
    of_labels = ours.stack(occurring), theirs.stack(occurring)
    absent = len(labels) - len(occurring)
    found = {"macro": compare_means(*of_labels, draws, absent=absent), "micro": micro}
    scores = theirs.score(labels)
    others = dict.fromkeys("prf", scores["cats_acc"])
    of_accuracy = describe_differences(accuracy, others) or {}
    compared = {"cats_acc": of_accuracy.get("f")}
    for average, differences in found.items():
        rows = describe_differences(differences, scores, f"cats_{average}_") or {}
        compared |= {f"cats_{average}_{key}": rows.get(key) for key in "prf"}
    return compared


def check_numbers(
    examples: Iterable[Example], *, model: str, test: str
) -> Iterator[Example]:
    """Refuse numbers that would count as if they were a label, or none."""
    for number, example in enumerate(examples):
        where = f"document {number}, counted from 0, has"
        for label, value in example.reference.cats.items():
            if not 0 <= value <= 1:
                raise ValueError(
                    f"The gold corpus '{test}' should have numbers from 0 to 1 in "
                    f"doc.cats, but {where} {value} for {quote(label)}. Correct it "
                    "there."
                )
        for label, value in example.predicted.cats.items():
            if not isfinite(value):
                raise ValueError(
                    f"The scores of '{model}' should be numbers, but {where} {value} "
                    f"for {quote(label)}. Look at the loss in training, which may have "
                    "diverged, and at the weights of the text classifier."
                )
        yield example


def judge(example: Example, classes: Classes) -> Judgement | None:
    """Say which labels the gold doc has, and which the predicted one; None if the gold
    doc has no entry, or no label where labels are exclusive. Of others, only those with
    an entry in the gold doc count, be it 0: as in spaCy, the rest is unknown.
    """
    known = example.reference.cats
    gold = frozenset(label for label, value in known.items() if value > 0)
    chosen = choose_labels(example.predicted.cats, classes)
    if not classes.exclusive:
        return (gold, chosen.intersection(known)) if known else None
    if len(gold) > 1:
        raise ValueError(
            "The labels of a pipeline with 'textcat' exclude each other, but a gold "
            f"document has {len(gold)} of them: {', '.join(sorted(gold))}. Train and "
            "evaluate a pipeline with 'textcat_multilabel' on such a corpus."
        )
    return (gold, chosen) if gold else None


def choose_labels(cats: Mapping[str, float], classes: Classes) -> frozenset[str]:
    """Choose the label of the highest score, or all from the threshold on."""
    labels = frozenset(classes.labels)
    scores = {label: score for label, score in cats.items() if label in labels}
    if not classes.exclusive:
        return frozenset(k for k, v in scores.items() if v >= classes.threshold)
    return frozenset([max(scores, key=scores.__getitem__)] if scores else [])


def name_accuracy(scores: Mapping[str, Any]) -> str:
    """Say what "cats_acc" is: of several labels, all must be right."""
    return "accuracy" if scores[EXCLUSIVE] else "exact match"
