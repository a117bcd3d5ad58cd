"""Scores of document categories, equal to scikit-learn's.

spaCy's `Scorer.score_cats` differs: labels that the pipeline lacks are ignored, and
documents without `cats` are errors if labels are exclusive.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

import numpy as np
from spacy.training import Example

from ...training.scorer import Counts, describe_counts, make_counts
from .bootstrap import Run, bootstrap_scores, compare_scores
from .sources import Classes, Inputs, Source, find_classes

#: Keys besides labels: documents with all labels right, whose precision is the
#: accuracy; the mean over labels; all labels pooled.
ACCURACY, MACRO, MICRO = ("acc",), ("macro",), ("micro",)

#: Scores of a corpus, without those per label.
CATEGORY_SCORES = (
    "cats_acc",
    *(f"cats_{x}_{key}" for x in ("macro", "micro") for key in "prf"),
)

SUPPORT, EXCLUSIVE = "cats_support", "cats_exclusive"

#: Characters shown of a misclassified document.
_MAX_CHARS = 600

Labels = frozenset[str]


class CategoryRun(Run):
    """Counts correct and wrong labels of documents."""

    def __init__(self, examples: Iterable[Example], classes: Classes) -> None:
        self.classes = classes
        self.pairs: list[tuple[Labels, Labels]] = []
        super().__init__(examples)
        gold = frozenset().union(*(gold for gold, _ in self.pairs))
        #: Labels of the classifier, then those found only in gold docs.
        self.labels = [*classes.labels, *sorted(gold.difference(classes.labels))]

    def count(self, number: int, example: Example) -> Counts | None:
        """Count labels of one document by label, `MICRO` and `ACCURACY`."""
        found = compare_labels(number, example, self.classes)
        if found is None:
            return None
        self.pairs.append(found)
        gold, predicted = found
        counts, is_wrong = make_counts(), int(gold != predicted)
        counts[ACCURACY] = [1 - is_wrong, is_wrong, is_wrong]
        right, wrong, missed = gold & predicted, predicted - gold, gold - predicted
        for i, labels in enumerate((right, wrong, missed)):
            counts[MICRO][i] = len(labels)
            for label in labels:
                counts[label][i] = 1

        def show() -> dict[str, Any]:
            text = example.reference.text
            text = text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
            labels = {"gold": sorted(gold), "predicted": sorted(predicted)}
            return {"document": number, "text": text, **labels}

        pairs = [*zip_longest(sorted(missed), ()), *zip_longest((), sorted(wrong))]
        if self.classes.exclusive:  # at most one missed and one wrong label
            pairs = [*zip_longest(missed, wrong)]
        for pair in pairs:
            self.errors.add(pair, show)
        return counts

    def score(self) -> dict[str, Any]:
        """Return the scores of `evaluate`, which are None without documents."""
        setting = {SUPPORT: len(self.documents), EXCLUSIVE: self.classes.exclusive}
        if not self.documents:
            return {**dict.fromkeys((*CATEGORY_SCORES, "cats_per_type")), **setting}
        per_type = {label: describe_counts(self.totals[label]) for label in self.labels}
        each = [[score[key] for key in "prf"] for score in per_type.values()]
        macro = np.array(each).reshape(-1, 3).mean(axis=0).tolist()
        micro, accuracy = (describe_counts(self.totals[x]) for x in (MICRO, ACCURACY))
        values = (accuracy["p"], *macro, *(micro[key] for key in "prf"))
        scores = dict(zip(CATEGORY_SCORES, values, strict=True))
        return {**scores, "cats_per_type": per_type, **setting}

    def make_matrix(self) -> dict[str, Any] | None:
        """Return the confusion matrix, or None if labels are not exclusive."""
        if not self.classes.exclusive:
            return None
        labels = [label for label in self.labels if any(self.totals[label])]
        pairs = Counter((*gold, *(other or [None])) for gold, other in self.pairs)
        return {
            "labels": labels,
            "counts": [[pairs[gold, other] for other in labels] for gold in labels],
            "unpredicted": [pairs[gold, None] for gold in labels],
        }


def evaluate_categories(inputs: Inputs) -> tuple[Run, dict[str, Any]]:
    """Return the run and the data of an `Evaluation` of categories."""
    ours = _make_run(inputs.predictions, inputs)
    keys, scores, comparison = [*ours.labels, ACCURACY, MICRO], ours.score(), None
    settings = (inputs.draws, len(ours.labels))
    drawn = bootstrap_scores(ours.stack(keys), *settings)
    intervals = dict(zip([*keys, MACRO], drawn, strict=True))
    for label, score in (scores["cats_per_type"] or {}).items():
        score |= intervals[label]
    scores["cats_acc_interval"] = intervals[ACCURACY]["p_interval"]
    for key in (MACRO, MICRO):
        scores |= {f"cats_{key[0]}_{name}": x for name, x in intervals[key].items()}
    if inputs.against is not None:
        theirs = _make_run(inputs.against, inputs)
        found = compare_scores(ours.stack(keys), theirs.stack(keys), *settings)
        rows, none = dict(zip([*keys, MACRO], found, strict=True)), dict.fromkeys("prf")
        comparison = {
            "model": inputs.against.name,
            "cats_acc": (rows[ACCURACY] or none)["p"],
            **{f"cats_macro_{x}": of for x, of in (rows[MACRO] or none).items()},
            **{f"cats_micro_{x}": of for x, of in (rows[MICRO] or none).items()},
        }
    golds = (gold.cats for gold in inputs.references)
    return ours, {
        "setting": {
            "labels": sorted(ours.classes.labels),
            "threshold": ours.classes.threshold,
            "documents_of_none": sum(bool(x) and not any(x.values()) for x in golds),
        },
        **scores,
        "matrix": ours.make_matrix(),
        "comparison": comparison,
    }


def _make_run(source: Source, inputs: Inputs) -> CategoryRun:
    """Run a pipeline, or read predictions, whose labels are exclusive if each gold doc
    with categories has exactly one.
    """
    if source.is_pipeline:
        return CategoryRun(inputs.predict(source), find_classes(source.docs))
    source = source._replace(docs=list(source.docs))
    predicted = (label for doc in source.docs for label in doc.cats)
    golds = (gold.cats for gold in inputs.references)
    n_labels = {sum(value > 0 for value in cats.values()) for cats in golds if cats}
    classes = Classes([*dict.fromkeys(predicted)], None if n_labels <= {1} else 0.5)
    return CategoryRun(inputs.predict(source), classes)


def compare_labels(
    number: int, example: Example, classes: Classes
) -> tuple[Labels, Labels] | None:
    """Return the gold and the predicted labels, or None if the gold doc has no `cats`.

    As in spaCy, a document whose exclusive labels are all 0 has the first label. Labels
    that are not exclusive are scored only if they are keys of the gold `cats`.
    """
    golds, predicted = example.reference.cats, example.predicted.cats
    if not golds:
        return None
    gold = [label for label, value in golds.items() if value > 0]
    scores = {label: x for label, x in predicted.items() if label in classes.labels}
    if classes.threshold is not None:
        chosen = [k for k, v in scores.items() if k in golds and v >= classes.threshold]
        return frozenset(gold), frozenset(chosen)
    if len(gold) > 1:
        raise ValueError(
            "A pipeline with 'textcat' predicts one label, but gold document "
            f"{number} (from 0) has {len(gold)}: {', '.join(sorted(gold))}. Train and "
            "evaluate a pipeline with 'textcat_multilabel' on such a corpus."
        )
    gold = gold or [label for label in golds if label in classes.labels][:1]
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:1]
    return frozenset(gold), frozenset(best)
