"""Categories of documents, scored as by scikit-learn's `accuracy_score` and `f1_score`.

spaCy's `Scorer.score_cats` differs: it knows no other labels than the pipeline's, and
counts a document without any `cats` as a wrong prediction where labels exclude each
other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np
from spacy.training import Example

from ...files import quote
from ...training.scorer import Counts, Run, describe_counts, make_counts
from .bootstrap import (
    bootstrap_scores,
    compare_scores,
    describe_differences,
    name_intervals,
)
from .confusions import ErrorCounter, Labels
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


class CategoryRun(Run):
    """Counts labels of documents, and notes which are wrong, as `errors`."""

    def __init__(self, examples: Iterable[Example], classes: Classes) -> None:
        self.classes = classes
        self.threshold = None if classes.exclusive else classes.threshold
        self.judgements: list[tuple[Labels, Labels]] = []
        self.n_of_none = 0
        self.errors = ErrorCounter()
        super().__init__(examples)

    def count(self, number: int, example: Example) -> Counts | None:
        """Count the labels of one document by their names, `MICRO` and `ACCURACY`."""
        judgement = judge(example, self.classes)
        if judgement is None:
            return None
        self.judgements.append(judgement)
        gold, predicted = judgement
        doc = example.reference
        self.n_of_none += not any(doc.cats.values())
        self.errors.add_labels(number, doc, *judgement, self.classes.exclusive)
        counts, is_wrong = make_counts(), int(gold != predicted)
        counts[ACCURACY] = [1 - is_wrong, is_wrong, is_wrong]
        outcomes = (gold & predicted, predicted - gold, gold - predicted)
        counts[MICRO] = [*map(len, outcomes)]
        for i, labels in enumerate(outcomes):
            for label in labels:
                counts[label][i] = 1
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
        accuracy = self.totals[ACCURACY][0] / len(self.documents)
        values = (accuracy, *macro, *(micro[key] for key in "prf"))
        scores = dict(zip(SCORES, values, strict=True))
        return {**scores, "cats_per_type": per_type, **setting}

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
    """Return what an `Evaluation` of categories holds: see `evaluate`."""
    sources = [source for source in (inputs.predictions, inputs.against) if source]
    runs = [_run(source, inputs) for source in sources]
    ours, theirs = runs[0], runs[-1]
    labels, draws = ours.list_labels(), inputs.draws
    # of others there may be thousands, which nothing is to be drawn of
    found = {key for run in runs for key in run.list_keys()}
    occurring = [label for label in labels if label in found]
    absent = len(labels) - len(occurring)
    counts, others = (r.stack([*occurring, MICRO, ACCURACY]) for r in (ours, theirs))
    comparison = None
    if inputs.against is not None:
        micro, acc = compare_scores(counts[:, -2:], others[:, -2:], draws)
        (macro,) = compare_scores(counts[:, :-2], others[:, :-2], draws, absent=absent)
        scores = theirs.score(labels)
        accuracy = acc and {"other": scores["cats_acc"], **acc.f._asdict()}
        comparison = {"model": inputs.against.name, "cats_acc": accuracy}
        for name, each in (("macro", macro), ("micro", micro)):
            rows = describe_differences(each, scores, f"cats_{name}_") or {}
            comparison |= {f"cats_{name}_{key}": rows.get(key) for key in "prf"}
    *of_labels, of_micro, of_all = bootstrap_scores(counts, draws)
    (of_macro,) = bootstrap_scores(counts[:, :-2], draws, absent=absent)
    intervals = dict(zip(occurring, of_labels, strict=True))
    scores = ours.score(labels)
    for label, score in (scores["cats_per_type"] or {}).items():
        score |= name_intervals(intervals.get(label))
    shared = None
    if inputs.train is not None:
        known = set(map(identify, inputs.read_train()))
        shared = count_shared(map(get_reference, inputs.gold.docs), known)
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
            "documents_of_none": ours.n_of_none,
        },
        **scores,
        "matrix": ours.make_matrix(labels),
        "comparison": comparison,
        "confusions": ours.errors.rank(),
        "cats_acc_interval": of_all.f,
        **name_intervals(of_macro, "cats_macro_"),
        **name_intervals(of_micro, "cats_micro_"),
    }


def _run(source: Input, inputs: Inputs) -> CategoryRun:
    """Run a pipeline, or read predictions, whose labels are exclusive if gold docs with
    categories have one each.
    """
    if source.is_pipeline:
        classes = find_classes(source.docs)
    else:
        source = source._replace(docs=list(source.docs))
        predicted = (label for doc in source.docs for label in getattr(doc, "cats", ()))
        golds = (get_reference(doc).cats for doc in inputs.gold.docs)
        n_labels = [sum(value > 0 for value in cats.values()) for cats in golds if cats]
        labels = list(dict.fromkeys(predicted))
        classes = Classes(labels, exclusive=all(n == 1 for n in n_labels))
    names = {"model": source.name, "test": inputs.gold.name}
    return CategoryRun(check_numbers(inputs.predict(source), **names), classes)


def check_numbers(
    examples: Iterable[Example], *, model: str, test: str
) -> Iterator[Example]:
    """Refuse numbers that would count as if they were a label, or none."""
    for number, example in enumerate(examples):
        for label, value in example.reference.cats.items():
            if not 0 <= value <= 1:
                raise ValueError(
                    f"The gold corpus '{test}' should have numbers from 0 to 1, but in "
                    f"document {number} (from 0) {value} for {quote(label)}."
                )
        for label, value in example.predicted.cats.items():
            if not isfinite(value):
                raise ValueError(
                    f"The scores of '{model}' should be numbers, but in document "
                    f"{number} is {value} for {quote(label)}. Did training diverge?"
                )
        yield example


def judge(example: Example, classes: Classes) -> tuple[Labels, Labels] | None:
    """Return the labels of the gold doc and the predicted ones; None if the gold doc
    has no `cats`, and so no annotation.

    As in spaCy: of exclusive labels that are all 0, the first one counts as the label;
    of others, only those with an entry in the gold doc count, be it 0.
    """
    known, own = example.reference.cats, frozenset(classes.labels)
    if not known:
        return None
    gold = frozenset(label for label, value in known.items() if value > 0)
    scores = {k: score for k, score in example.predicted.cats.items() if k in own}
    if not classes.exclusive:
        chosen = (k for k, v in scores.items() if k in known and v >= classes.threshold)
        return gold, frozenset(chosen)
    if len(gold) > 1:
        raise ValueError(
            "The labels of a pipeline with 'textcat' exclude each other, but a gold "
            f"document has {len(gold)} of them: {', '.join(sorted(gold))}. Train and "
            "evaluate a pipeline with 'textcat_multilabel' on such a corpus."
        )
    first = islice((label for label in known if label in own), 1)
    best = [max(scores, key=scores.__getitem__)] if scores else []
    return gold or frozenset(first), frozenset(best)


def name_accuracy(scores: Mapping[str, Any]) -> str:
    """Return what "cats_acc" is: of several labels, all must be right."""
    return "accuracy" if scores[EXCLUSIVE] else "exact match"
