"""What the categories of documents score, how sure that is, and what is wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .bootstrap import (
    CONFIDENCE,
    ScoreIntervals,
    bootstrap_mean,
    bootstrap_scores,
    compare_means,
    compare_scores,
)
from .categories import (
    Classes,
    Judgement,
    count_labels,
    judge,
    list_labels,
    summarize_judgements,
)
from .misclassified import Misclassifications, make_matrix
from .predictions import get_reference
from .sharing import count_shared, identify
from .sources import Options, Source, predict
from .tasks import find_classes
from .warnings import find_warnings_of_categories


def evaluate_categories(
    predictions: Source,
    gold: Source,
    train: Source | None,
    *,
    golds: list[Doc | Example],
    against: Source | None,
    options: Options,
) -> dict[str, Any]:
    """Evaluate categories of documents: see `evaluate`.

    predictions (Source): A pipeline, or predicted docs.
    gold (Source): The gold docs.
    train (Source, optional): The docs of the training set.
    golds (list[Doc | Example]): The gold docs, read.
    against (Source, optional): A second pipeline, or its predicted docs.
    options (Options): How to evaluate.
    RAISES (ValueError): If a gold doc has several labels where they are exclusive, or
        two pipelines are not scored on the same docs.
    RETURNS (dict[str, Any]): What an `Evaluation` of categories holds.
    """

    def evaluate_source(source: Source) -> "_Run":
        source, classes = _find_classes(source, golds)
        examples = predict(source, golds, gold.name)
        title = f"Evaluating {source.name}"
        return _Run(options.show(examples, title, total=len(golds)), classes)

    ours = evaluate_source(predictions)
    theirs = None if against is None else evaluate_source(against)
    runs = [ours] if theirs is None else [ours, theirs]
    labels = _join(list_labels(each.judgements, each.classes) for each in runs)
    scores, counts = ours.score(labels), ours.count(labels)
    evaluation = {
        "setting": {
            "model": predictions.name,
            "test": gold.name,
            "train": None if train is None else train.name,
            "documents": len(ours.judgements),
            "documents_read": ours.n_read,
            "labels": sorted(ours.classes.labels),
            "threshold": _get_threshold(ours.classes),
            "assumed": [
                _describe_assumed(source.name, run.classes)
                for source, run in zip((predictions, against), runs, strict=False)
                if source is not None and not isinstance(source.docs, Language)
            ],
            "shared": _count_shared(train, golds, options),
            "confidence": CONFIDENCE,
            "samples": options.samples,
            "seed": options.seed,
        },
        **_add_intervals(scores, counts, asdict(options)),
        "matrix": make_matrix(ours.judgements, labels)
        if ours.classes.exclusive
        else None,
        "comparison": None
        if against is None or theirs is None
        else {"model": against.name, **_compare(ours, theirs, labels, options)},
        "confusions": ours.errors.rank(),
    }
    return {**evaluation, "warnings": find_warnings_of_categories(evaluation)}


class _Run:
    """Judges examples, and notes which of them are wrong.

    It has then:

    n_read (int): How many documents there were.
    numbers (list[int]): Which of them have known categories, from 0.
    judgements (list[Judgement]): What was found in each of these.
    errors (Misclassifications): The errors.
    """

    def __init__(self, examples: Iterable[Example], classes: Classes) -> None:
        self.classes = classes
        self.n_read = 0
        self.numbers: list[int] = []
        self.judgements: list[Judgement] = []
        self.errors = Misclassifications(classes)
        for number, example in enumerate(examples):
            self.n_read += 1
            judgement = judge(example, classes)
            if judgement is not None:
                self.numbers.append(number)
                self.judgements.append(judgement)
                self.errors.add(number, example.reference, judgement)

    def score(self, labels: Sequence[str]) -> dict[str, Any]:
        """Score all documents."""
        return summarize_judgements(self.judgements, self.classes, labels)

    def count(self, labels: Sequence[str]) -> np.ndarray:
        """Count for each document the labels, after them all of these together, and
        whether they are all right, shape (n_documents, n_labels + 2, 3).
        """
        places = {label: i for i, label in enumerate(labels)}
        counts = np.zeros((len(self.judgements), len(labels) + 2, 3), dtype="int32")
        for row, judgement in zip(counts, self.judgements, strict=True):
            for label, outcomes in count_labels(judgement).items():
                row[places[label]] = outcomes
            row[-2] = row[:-2].sum(axis=0)
            # precision, recall and F1 of it are all the share of right documents
            row[-1] = (1, 0, 0) if judgement.is_right else (0, 1, 1)
        return counts


def _find_classes(source: Source, golds: list[Doc | Example]) -> tuple[Source, Classes]:
    """Say what may be predicted, and give the predictions again.

    Where there is no pipeline to ask, labels are exclusive if each gold doc with
    categories has one.
    """
    if isinstance(source.docs, Language):
        return source, find_classes(source.docs)
    docs = list(source.docs)
    known = [cats for doc in golds if (cats := get_reference(doc).cats)]
    exclusive = all(sum(value > 0 for value in cats.values()) == 1 for cats in known)
    labels = _join(doc.cats for doc in docs if isinstance(doc, Doc))
    return Source(name=source.name, docs=docs), Classes(
        labels=labels, exclusive=exclusive
    )


def _describe_assumed(name: str, classes: Classes) -> dict[str, Any]:
    """Say what nobody has said of predictions, but was concluded."""
    return {
        "model": name,
        "exclusive": classes.exclusive,
        "threshold": _get_threshold(classes),
    }


def _get_threshold(classes: Classes) -> float | None:
    return None if classes.exclusive else classes.threshold


def _join(parts: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(label for part in parts for label in part))


def _count_shared(
    train: Source | None, golds: list[Doc | Example], options: Options
) -> dict[str, int] | None:
    if train is None:
        return None
    docs = options.show(train.docs, f"Reading {train.name}")
    known = {identify(get_reference(doc)) for doc in docs}
    return asdict(count_shared(map(get_reference, golds), known))


def _add_intervals(
    scores: dict[str, Any], counts: np.ndarray, draws: dict[str, Any]
) -> dict[str, Any]:
    *labels, micro, accuracy = bootstrap_scores(counts, **draws)
    macro = bootstrap_mean(counts[:, :-2], **draws)
    scores["cats_acc_interval"] = accuracy.f
    for average, intervals in (("macro", macro), ("micro", micro)):
        scores |= _name(f"cats_{average}_", intervals)
    per_type = scores["cats_per_type"] or {}
    for score, intervals in zip(per_type.values(), labels, strict=False):
        score.update(_name("", intervals))
    return scores


def _name(prefix: str, intervals: ScoreIntervals) -> dict[str, Any]:
    return {f"{prefix}{key}_interval": getattr(intervals, key) for key in "prf"}


def _compare(
    ours: _Run, theirs: _Run, labels: Sequence[str], options: Options
) -> dict[str, Any]:
    if ours.numbers != theirs.numbers:
        raise ValueError(
            "Both pipelines should be scored on the same documents, but one has labels "
            "that exclude each other, and leaves out those without a label. Give all "
            "documents of the gold corpus a label, or compare pipelines of one kind."
        )
    draws = asdict(options)
    counts = [run.count(labels) for run in (ours, theirs)]
    macro = compare_means(*(each[:, :-2] for each in counts), **draws)
    micro, accuracy = compare_scores(*(each[:, -2:] for each in counts), **draws)
    scores = theirs.score(labels)
    found = {
        f"cats_{average}_{key}": getattr(differences, key, None)
        for average, differences in (("macro", macro), ("micro", micro))
        for key in "prf"
    }
    found = {"cats_acc": accuracy and accuracy.f, **found}
    return {
        key: difference and {"other": scores[key], **asdict(difference)}
        for key, difference in found.items()
    }
