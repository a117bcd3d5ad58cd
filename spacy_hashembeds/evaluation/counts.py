"""True positives, false positives and false negatives of documents, and scores."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from spacy.training import Example

Counts = defaultdict[Any, list[int]]


def make_counts() -> Counts:
    """Make counts of nothing, to add to."""
    return defaultdict(lambda: [0, 0, 0])


def add_counts(documents: Iterable[Mapping[Any, Sequence[int]]]) -> Counts:
    """Sum the counts of all documents."""
    totals = make_counts()
    for document in documents:
        for key, outcomes in document.items():
            total = totals[key]
            for i, n in enumerate(outcomes):
                total[i] += n
    return totals


class Run(ABC):
    """Counts what examples hold, read once, at once: `n_read` of them, of which
    `numbers`, from 0, are annotated; the counts of these, `documents`, and `totals`.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        self.n_read = 0
        self.numbers: list[int] = []
        self.documents: list[Counts] = []
        for number, example in enumerate(examples):
            self.n_read += 1
            counts = self.count(number, example)
            if counts is not None:
                self.numbers.append(number)
                self.documents.append(counts)
        self.totals = add_counts(self.documents)

    @abstractmethod
    def count(self, number: int, example: Example) -> Counts | None:
        """Count one document, and note what else there is; None without annotation."""

    def stack(self, keys: Sequence[Hashable]) -> np.ndarray:
        """Give the counts of each document, shape (n_documents, n_keys, 3)."""
        counts = np.zeros((len(self.documents), len(keys), 3), dtype="int32")
        columns = {key: i for i, key in enumerate(keys)}
        for row, document in zip(counts, self.documents, strict=True):
            for key, outcomes in document.items():
                if key in columns:
                    row[columns[key]] = outcomes
        return counts

    def list_keys(self) -> list[Any]:
        """List what there is something to count of, in the order of first sight."""
        return [key for key, outcomes in self.totals.items() if any(outcomes)]


def score_counts(counts: Any) -> np.ndarray:
    """Give precision, recall and F1, 0 to 1, as `spacy.scorer.PRFScore` does, and NaN
    where all three counts are 0. *Shape:* (..., 3) -> (..., 3).
    """
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype="float64"), -1, 0)
    precision = tp / (tp + fp + 1e-100)
    recall = tp / (tp + fn + 1e-100)
    f_score = 2 * ((precision * recall) / (precision + recall + 1e-100))
    scores = np.stack([precision, recall, f_score], axis=-1)
    scores[tp + fp + fn == 0] = np.nan
    return scores


def describe_counts(outcomes: Sequence[int]) -> dict[str, Any]:
    """Give the `p`, `r` and `f` of one thing, 0 of nothing, and its `support`."""
    scores = np.nan_to_num(score_counts(outcomes)).tolist()
    support = int(outcomes[0] + outcomes[2])
    return {**dict(zip("prf", scores, strict=True)), "support": support}


def describe_recall(outcomes: Sequence[int]) -> dict[str, Any]:
    """Give the `support` of one thing, and its `recall`, None of nothing."""
    support = outcomes[0] + outcomes[2]
    return {"support": support, "recall": outcomes[0] / support if support else None}


def count_gold(counts: np.ndarray) -> np.ndarray:
    """Count the gold ones, found or missed. *Shape:* (..., 3) -> (...)."""
    return counts[..., 0] + counts[..., 2]
