"""Categories of documents, scored as by scikit-learn's `accuracy_score` and `f1_score`.

spaCy's `Scorer.score_cats` differs: it knows no other labels than the pipeline's, and
counts a document without any `cats` as a wrong prediction where labels exclude each
other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from spacy.training import Example

from ...files import quote
from ...training.scorer import Counts, Run, describe_counts, make_counts
from .bootstrap import bootstrap_scores, compare_scores
from .confusions import ErrorCounter, Labels
from .entities import count_shared, identify
from .sources import Classes, Input, Inputs, find_classes, get_reference

#: "macro" is the mean of the labels' scores, "micro" counts all documents' together.
AVERAGES = ("macro", "micro")

#: All scores of a corpus, but those of each label.
SCORES = ("cats_acc", *(f"cats_{name}_{key}" for name in AVERAGES for key in "prf"))

SUPPORT, EXCLUSIVE = "cats_support", "cats_exclusive"

#: Keys, beside labels, of all labels of a document together, and of whether they are
#: all right: its precision, recall and F1 are the accuracy.
MICRO, ACCURACY = ("micro",), ("accuracy",)


class CategoryRun(Run):
    """Counts labels of documents, and notes which are wrong, as `errors`."""

    def __init__(self, examples: Iterable[Example], classes: Classes) -> None:
        self.classes = classes
        self.judgements: list[tuple[Labels, Labels]] = []
        self.n_of_none = 0
        self.errors = ErrorCounter()
        super().__init__(examples)
        gold = frozenset().union(*(gold for gold, _ in self.judgements))
        #: Labels of the classifier, then those that only gold docs have.
        self.labels = [*classes.labels, *sorted(gold.difference(classes.labels))]

    def count(self, number: int, example: Example) -> Counts | None:
        """Count the labels of one document by their names, `MICRO` and `ACCURACY`."""
        judgement = judge(number, example, self.classes)
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

    def make_matrix(self) -> dict[str, Any] | None:
        """Count how often each label is taken for each other, as scikit-learn's
        `confusion_matrix`. None where they are not exclusive.
        """
        found = {*self.list_keys()}
        labels = [label for label in self.labels if label in found]
        if not self.classes.exclusive or not labels:
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
    ours, theirs, draws = runs[0], runs[-1], inputs.draws
    labels, scores = ours.labels, ours.score(ours.labels)
    counts, others = (run.stack([*labels, MICRO, ACCURACY]) for run in (ours, theirs))
    comparison = None
    if inputs.against is not None:
        micro, accuracy = compare_scores(counts[:, -2:], others[:, -2:], draws)
        sides = (counts[:, :-2], others[:, :-2])
        (macro,) = compare_scores(*sides, draws, is_mean=True)
        # precision and recall of it are the same, but not always to the last digit
        accuracy = accuracy and {**accuracy["f"], "other": accuracy["p"]["other"]}
        comparison = {"model": inputs.against.name, "cats_acc": accuracy}
        for name, rows in (("macro", macro), ("micro", micro)):
            comparison |= {f"cats_{name}_{k}": rows and rows[k] for k in "prf"}
    *of_labels, of_micro, of_all = bootstrap_scores(counts, draws)
    (of_macro,) = bootstrap_scores(counts[:, :-2], draws, is_mean=True)
    for label, bounds in zip(labels, of_labels, strict=True):
        if scores["cats_per_type"]:
            scores["cats_per_type"][label] |= bounds
    averages = (("macro", of_macro), ("micro", of_micro))
    shared = None
    if inputs.train is not None:
        known = {*map(identify, inputs.read_train())}
        shared = count_shared(inputs.gold.docs, known)
    return {
        "setting": {
            **inputs.describe(ours),
            "labels": sorted(ours.classes.labels),
            "threshold": ours.classes.threshold,
            "assumed": [
                {"model": of.name, "exclusive": n is None, "threshold": n}
                for of, n in zip(
                    sources, (r.classes.threshold for r in runs), strict=True
                )
                if not of.is_pipeline
            ],
            "shared": shared,
            "documents_of_none": ours.n_of_none,
        },
        **scores,
        "matrix": ours.make_matrix(),
        "comparison": comparison,
        "confusions": ours.errors.rank(),
        "cats_acc_interval": of_all["f_interval"],
        **{f"cats_{name}_{k}": v for name, of in averages for k, v in of.items()},
    }


def _run(source: Input, inputs: Inputs) -> CategoryRun:
    """Run a pipeline, or read predictions, whose labels are exclusive if gold docs with
    categories have one each.
    """
    if source.is_pipeline:
        return CategoryRun(inputs.predict(source), find_classes(source.docs))
    source = source._replace(docs=list(source.docs))
    predicted = (label for doc in source.docs for label in doc.cats)
    golds = (get_reference(doc).cats for doc in inputs.gold.docs)
    n_labels = {sum(value > 0 for value in cats.values()) for cats in golds if cats}
    classes = Classes([*dict.fromkeys(predicted)], None if n_labels <= {1} else 0.5)
    return CategoryRun(inputs.predict(source), classes)


def judge(
    number: int, example: Example, classes: Classes
) -> tuple[Labels, Labels] | None:
    """Return the labels of the gold doc and the predicted ones; None if the gold doc
    has no `cats`, and so no annotation.

    As in spaCy: of exclusive labels that are all 0, the first one counts as the label;
    of others, only those with an entry in the gold doc count, be it 0.
    """
    known, found = example.reference.cats, example.predicted.cats
    own = frozenset(classes.labels)
    for label, value in (*known.items(), *found.items()):
        if not isfinite(value) or not (0 <= known.get(label, 0) <= 1):
            raise ValueError(
                "Gold 'cats' should be numbers from 0 to 1, and predicted ones finite, "
                f"but document {number} (from 0) has {value} for {quote(label)}. Did "
                "training diverge?"
            )
    if not known:
        return None
    gold = frozenset(label for label, value in known.items() if value > 0)
    scores = {label: found[label] for label in found if label in own}
    if classes.threshold is not None:
        chosen = (k for k, v in scores.items() if k in known and v >= classes.threshold)
        return gold, frozenset(chosen)
    if len(gold) > 1:
        raise ValueError(
            "The labels of a pipeline with 'textcat' exclude each other, but a gold "
            f"document has {len(gold)} of them: {', '.join(sorted(gold))}. Train and "
            "evaluate a pipeline with 'textcat_multilabel' on such a corpus."
        )
    first = [label for label in known if label in own][:1]
    best = [max(scores, key=scores.__getitem__)] if scores else []
    return gold or frozenset(first), frozenset(best)


def name_accuracy(scores: Mapping[str, Any]) -> str:
    """Return what "cats_acc" is: of several labels, all must be right."""
    return "accuracy" if scores[EXCLUSIVE] else "exact match"
