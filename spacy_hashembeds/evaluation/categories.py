"""Categories of documents: which are right, and what that scores.

The figures are those of scikit-learn's `accuracy_score` and `f1_score`, and of spaCy's
`Scorer.score_cats` where that scores the same: spaCy knows no other labels than the
pipeline's, and counts a document without gold category as a wrong prediction.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from spacy.training import Example

from ..files import quote
from .counts import score_counts

#: Averages over labels: "macro" is the mean of the labels' scores, and "micro" counts
#: the labels of all documents together.
AVERAGES = ("macro", "micro")

#: All scores of a corpus, but those of each label.
SCORES = (
    "cats_acc",
    *(f"cats_{average}_{key}" for average in AVERAGES for key in "prf"),
)

SUPPORT, EXCLUSIVE = "cats_support", "cats_exclusive"


@dataclass(frozen=True, kw_only=True)
class Classes:
    """What a text classifier may predict.

    labels (Sequence[str]): Its labels.
    exclusive (bool): Whether it predicts one label for each document, that of the
        highest score, as spaCy's `textcat`, or any number, as `textcat_multilabel`.
    threshold (float): The least score of a predicted label, where labels are not
        exclusive.
    """

    labels: Sequence[str]
    exclusive: bool
    threshold: float = 0.5

    @cached_property
    def known(self) -> frozenset[str]:
        """The labels, to look one up."""
        return frozenset(self.labels)


class Judgement(NamedTuple):
    """The labels of one document.

    gold (frozenset[str]): Those that it has.
    predicted (frozenset[str]): Those that it is said to have.
    """

    gold: frozenset[str]
    predicted: frozenset[str]

    @property
    def is_right(self) -> bool:
        """Whether all labels are right, and none is missing."""
        return self.gold == self.predicted


def score_categories(examples: Iterable[Example], classes: Classes) -> dict[str, Any]:
    """Score the categories of documents.

    examples (Iterable[Example]): Predicted and gold docs; read once.
    classes (Classes): What may be predicted.
    RAISES (ValueError): If a gold doc has several labels where they are exclusive.
    RETURNS (dict[str, Any]): See `summarize_judgements`.
    """
    judged = (judge(example, classes) for example in examples)
    judgements = [each for each in judged if each is not None]
    labels = list_labels(judgements, classes)
    return summarize_judgements(judgements, classes, labels)


def check_numbers(
    examples: Iterable[Example], *, model: str, test: str
) -> Iterator[Example]:
    """Refuse numbers that would count as if they were a label, or none.

    examples (Iterable[Example]): Predicted and gold docs; read once.
    model (str): What errors call the predictions.
    test (str): What they call the gold corpus.
    RAISES (ValueError): If a score is NaN or infinite, or a gold number not 0 to 1.
    YIELDS (Example): The examples.
    """
    for number, example in enumerate(examples):
        where = f"document {number}, counted from 0, has"
        wrong = _find(example.reference.cats, lambda value: 0 <= value <= 1)
        if wrong:
            raise ValueError(
                f"The gold corpus '{test}' should have numbers from 0 to 1 in doc.cats,"
                f" but {where} {wrong}. Correct it there."
            )
        wrong = _find(example.predicted.cats, isfinite)
        if wrong:
            raise ValueError(
                f"The scores of '{model}' should be numbers, but {where} {wrong}. Look "
                "at the loss in training, which may have diverged, and at the weights "
                "of the text classifier."
            )
        yield example


def _find(cats: Mapping[str, float], is_fine: Callable[[float], bool]) -> str | None:
    found = (f"{v} for {quote(label)}" for label, v in cats.items() if not is_fine(v))
    return next(found, None)


def judge(example: Example, classes: Classes) -> Judgement | None:
    """Say which labels the gold doc has, and which the predicted one.

    Of labels that are not exclusive, only those count that the gold doc has an entry
    for, be it 0: as in spaCy, others are unknown.

    example (Example): A predicted and a gold doc.
    classes (Classes): What may be predicted.
    RAISES (ValueError): If there are several gold labels where they are exclusive.
    RETURNS (Judgement, optional): None if nothing is known of the doc: if the gold doc
        has no entry, or no label where it should have one.
    """
    known = example.reference.cats
    gold = frozenset(label for label, value in known.items() if value > 0)
    scores = {k: v for k, v in example.predicted.cats.items() if k in classes.known}
    if not classes.exclusive:
        chosen = (k for k, v in scores.items() if k in known and v >= classes.threshold)
        return Judgement(gold, frozenset(chosen)) if known else None
    if len(gold) > 1:
        raise ValueError(
            "The labels of a pipeline with 'textcat' exclude each other, but a gold "
            f"document has {len(gold)} of them: {', '.join(sorted(gold))}. Train and "
            "evaluate a pipeline with 'textcat_multilabel' on such a corpus."
        )
    best = [max(scores, key=scores.__getitem__)] if scores else []
    return Judgement(gold, frozenset(best)) if gold else None


def count_labels(judgement: Judgement) -> dict[str, list[int]]:
    """Give true positives, false positives and false negatives of each label."""
    gold, predicted = judgement
    return {
        label: [
            int(label in gold & predicted),
            int(label in predicted - gold),
            int(label in gold - predicted),
        ]
        for label in gold | predicted
    }


def list_labels(judgements: Iterable[Judgement], classes: Classes) -> list[str]:
    """List the labels of a classifier, and then those that only gold docs have."""
    gold = frozenset().union(*(judgement.gold for judgement in judgements))
    return [*classes.labels, *sorted(gold.difference(classes.labels))]


def summarize_judgements(
    judgements: Sequence[Judgement], classes: Classes, labels: Sequence[str]
) -> dict[str, Any]:
    """Score documents.

    judgements (Sequence[Judgement]): Of each document of which something is known.
    classes (Classes): What may be predicted.
    labels (Sequence[str]): The labels to score, see `list_labels`.
    RETURNS (dict[str, Any]): "cats_acc", the share of documents whose labels are all
        right; "cats_macro_p" and so on, for each of `AVERAGES` precision, recall and
        F1; "cats_per_type", for each label `p`, `r`, `f` and how many gold docs have
        it, `support`. All 0 to 1, 0 where there is nothing to divide by, and None
        without documents. "cats_support", how many documents there are; and
        "cats_exclusive", whether labels are.
    """
    counts = np.zeros((len(labels), 3), dtype="int64")
    places = {label: i for i, label in enumerate(labels)}
    for judgement in judgements:
        for label, outcomes in count_labels(judgement).items():
            counts[places[label]] += outcomes
    setting = {SUPPORT: len(judgements), EXCLUSIVE: classes.exclusive}
    if not judgements:
        return {**dict.fromkeys((*SCORES, "cats_per_type")), **setting}
    scores = np.nan_to_num(score_counts(counts))
    return {
        "cats_acc": sum(each.is_right for each in judgements) / len(judgements),
        **_name("cats_macro_", scores.mean(axis=0)),
        **_name("cats_micro_", np.nan_to_num(score_counts(counts.sum(axis=0)))),
        "cats_per_type": {
            label: {**_name("", score), "support": int(tp + fn)}
            for label, score, (tp, _, fn) in zip(labels, scores, counts, strict=True)
        },
        **setting,
    }


def name_accuracy(scores: Mapping[str, Any]) -> str:
    """Say what "cats_acc" is: of several labels, all must be right."""
    return "accuracy" if scores[EXCLUSIVE] else "exact match"


def _name(prefix: str, scores: np.ndarray) -> dict[str, float]:
    return {
        f"{prefix}{key}": score
        for key, score in zip("prf", scores.tolist(), strict=True)
    }
