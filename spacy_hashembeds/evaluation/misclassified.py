"""Which labels are taken for which, and in which documents."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc

from .categories import Classes, Judgement

# A gold and a predicted label; one of them may be missing.
Pair = tuple[str | None, str | None]

#: The most labels of a matrix, which has a cell for each two, nearly all of them 0.
#: Those that are not stand among the errors too.
MAX_MATRIX = 500

#: Characters of a document that are shown.
_SHOWN = 600


@dataclass(frozen=True, kw_only=True)
class Misclassified:
    """A document with a wrong label.

    document (int): Its number, from 0.
    text (str): Its text, or the beginning of a long one.
    gold (list[str]): All of its gold labels.
    predicted (list[str]): All of its predicted ones.
    """

    document: int
    text: str
    gold: list[str]
    predicted: list[str]


class Misclassifications:
    """Counts wrong labels, and keeps some documents of each kind.

    classes (Classes): What may be predicted.
    examples (int): How many of each kind to keep.
    """

    def __init__(self, classes: Classes, *, examples: int = 5) -> None:
        self._exclusive = classes.exclusive
        self._n_examples = examples
        self._counts: Counter[Pair] = Counter()
        self._examples: dict[Pair, list[Misclassified]] = {}

    def add(self, document: int, doc: Doc, judgement: Judgement) -> None:
        """Count the errors of one document.

        document (int): Its number.
        doc (Doc): It.
        judgement (Judgement): Its labels.
        """
        for pair in self._pair(judgement):
            self._counts[pair] += 1
            examples = self._examples.setdefault(pair, [])
            if len(examples) < self._n_examples:
                examples.append(
                    Misclassified(
                        document=document,
                        text=_shorten(doc.text),
                        gold=sorted(judgement.gold),
                        predicted=sorted(judgement.predicted),
                    )
                )

    def rank(self) -> list[dict[str, Any]]:
        """List what was counted, the most frequent first, and by name where equal.

        RETURNS (list[dict[str, Any]]): For each kind of error the "gold" label and the
            "predicted" one, None where it is missing or too many; its "count"; and the
            first "examples" of it, as `Misclassified` has them.
        """
        ranked = sorted(
            self._counts.items(),
            key=lambda item: (-item[1], [name or "" for name in item[0]]),
        )
        return [
            {
                "gold": pair[0],
                "predicted": pair[1],
                "count": count,
                "examples": [vars(example) for example in self._examples[pair]],
            }
            for pair, count in ranked
        ]

    def _pair(self, judgement: Judgement) -> list[Pair]:
        """Pair labels that exclude each other; of others nobody knows which."""
        gold, predicted = judgement
        missed, wrong = sorted(gold - predicted), sorted(predicted - gold)
        if self._exclusive and missed and wrong:
            return [(missed[0], wrong[0])]
        return [(label, None) for label in missed] + [(None, label) for label in wrong]


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def make_matrix(
    judgements: Sequence[Judgement], labels: Sequence[str]
) -> dict[str, Any] | None:
    """Count how often each label is taken for each other, where they are exclusive.

    judgements (Sequence[Judgement]): Of each document.
    labels (Sequence[str]): The labels that are gold or predicted, in order.
    RETURNS (dict[str, Any], optional): "labels"; "counts", a row for each gold label
        and in it a column for each predicted one, as scikit-learn's
        `confusion_matrix`; and "unpredicted", for each gold label how many documents
        got none. None without labels, and where there are more than
        `MAX_MATRIX`.
    """
    if not 0 < len(labels) <= MAX_MATRIX:
        return None
    pairs = Counter((*gold, *(predicted or [None])) for gold, predicted in judgements)
    return {
        "labels": list(labels),
        "counts": [[pairs[gold, other] for other in labels] for gold in labels],
        "unpredicted": [pairs[gold, None] for gold in labels],
    }
