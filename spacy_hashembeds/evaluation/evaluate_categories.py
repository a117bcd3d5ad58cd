"""What the categories of documents score, how sure that is, and what is wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import chain
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
    check_numbers,
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
        two pipelines are not scored on the same docs, or `check_numbers` refuses some.
    RETURNS (dict[str, Any]): What an `Evaluation` of categories holds.
    """

    def evaluate_source(source: Source) -> "_Run":
        source, classes = _find_classes(source, golds)
        examples = predict(source, golds, gold.name)
        title = f"Evaluating {source.name}"
        examples = check_numbers(examples, model=source.name, test=gold.name)
        return _Run(options.show(examples, title, total=len(golds)), classes)

    ours = evaluate_source(predictions)
    theirs = None if against is None else evaluate_source(against)
    runs = [ours] if theirs is None else [ours, theirs]
    labels = _join(list_labels(each.judgements, each.classes) for each in runs)
    # of others there may be thousands, which nothing is to be drawn of
    occurring = _keep(labels, runs)
    scores, counts = ours.score(labels), ours.count(occurring)
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
        **_add_intervals(scores, counts, occurring, asdict(options)),
        "matrix": make_matrix(ours.judgements, _keep(labels, [ours]))
        if ours.classes.exclusive
        else None,
        "comparison": None
        if against is None or theirs is None
        else {
            "model": against.name,
            **_compare(ours, theirs, labels, occurring, options),
        },
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


def _keep(labels: Iterable[str], runs: Iterable[_Run]) -> list[str]:
    """Keep the labels that are gold or predicted in some document."""
    judgements = chain.from_iterable(run.judgements for run in runs)
    found = frozenset().union(*(gold | predicted for gold, predicted in judgements))
    return [label for label in labels if label in found]


def _count_shared(
    train: Source | None, golds: list[Doc | Example], options: Options
) -> dict[str, int] | None:
    if train is None:
        return None
    docs = options.show(train.docs, f"Reading {train.name}")
    known = {identify(get_reference(doc)) for doc in docs}
    return asdict(count_shared(map(get_reference, golds), known))


def _add_intervals(
    scores: dict[str, Any],
    counts: np.ndarray,
    occurring: Sequence[str],
    draws: dict[str, Any],
) -> dict[str, Any]:
    *intervals, micro, accuracy = bootstrap_scores(counts, **draws)
    per_type = scores["cats_per_type"] or {}
    absent = len(per_type) - len(occurring)
    macro = bootstrap_mean(counts[:, :-2], absent=absent, **draws)
    scores["cats_acc_interval"] = accuracy.f
    for average, found in (("macro", macro), ("micro", micro)):
        scores |= _name(f"cats_{average}_", found)
    of_labels = dict(zip(occurring, intervals, strict=True))
    none = ScoreIntervals(p=None, r=None, f=None)
    for label, score in per_type.items():
        score.update(_name("", of_labels.get(label, none)))
    return scores


def _name(prefix: str, intervals: ScoreIntervals) -> dict[str, Any]:
    return {f"{prefix}{key}_interval": getattr(intervals, key) for key in "prf"}


def _compare(
    ours: _Run,
    theirs: _Run,
    labels: Sequence[str],
    occurring: Sequence[str],
    options: Options,
) -> dict[str, Any]:
    if ours.numbers != theirs.numbers:
        raise ValueError(
            "Both pipelines should be scored on the same documents, but one has labels "
            "that exclude each other, and leaves out those without a label. Give all "
            "documents of the gold corpus a label, or compare pipelines of one kind."
        )
    draws = asdict(options)
    counts = [run.count(occurring) for run in (ours, theirs)]
    absent = len(labels) - len(occurring)
    macro = compare_means(*(each[:, :-2] for each in counts), absent=absent, **draws)
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
