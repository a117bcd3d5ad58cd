"""The values that token attributes take in a corpus: table 4 of the report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.tokens import Doc

from ...kernels.distinct import find_distinct

# How many tokens are kept at least before they are reduced to distinct words.
_MIN_PENDING = 2**16


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The distinct words of a corpus, by ORTH and other attributes: the same ORTH twice
    where another differs, such as a norm set by the tokenizer.
    """

    attrs: tuple[str, ...]  #: The other attributes.
    words: NDArray  #: ORTH and these. *Shape:* `(n, 1 + attrs)`, uint64.
    counts: NDArray  #: How often each word was seen. *Shape:* `(n,)`, int64.

    def get_columns(self, attrs: Sequence[str]) -> NDArray:
        """Get some attributes of all words. *Shape:* `(n, attrs)`."""
        return self.words[:, [1 + self.attrs.index(attr) for attr in attrs]]

    def get_words(self, attrs: Sequence[str]) -> NDArray:
        """Get words by ORTH and some attributes alone. *Shape:* `(m, 1 + attrs)`."""
        words = np.hstack([self.words[:, :1], self.get_columns(attrs)])
        return find_distinct(words).values if len(words) else words

    def count_values(self, attr: str) -> tuple[NDArray, NDArray]:
        """Count an attribute's values, sorted. *Shapes:* `(m,)`, uint64 and int64."""
        column = self.get_columns([attr])[:, 0]
        values, copies = np.unique(column, return_inverse=True)
        return values, _sum_by(copies, self.counts)


def collect_vocabulary(docs: Iterable[Doc], attrs: Sequence[str]) -> Vocabulary:
    """Collect the distinct words of docs, read one at a time, in memory for these."""
    ids = [IDS[attr] for attr in ("ORTH", *attrs)]
    words = np.zeros((0, len(ids)), dtype="uint64")
    counts = np.zeros(0, dtype="int64")
    pending: list[NDArray] = []
    n_pending = 0
    for doc in docs:
        if len(doc):
            pending.append(doc.to_array(ids).reshape(len(doc), -1))
            n_pending += len(doc)
        # as many as there are words, so that the time stays linear
        if n_pending > max(_MIN_PENDING, len(words)):
            words, counts = _merge(words, counts, pending)
            pending, n_pending = [], 0
    words, counts = _merge(words, counts, pending)
    return Vocabulary(attrs=tuple(attrs), words=words, counts=counts)


def _merge(
    words: NDArray, counts: NDArray, pending: Sequence[NDArray]
) -> tuple[NDArray, NDArray]:
    if not pending:
        return words, counts
    keys = np.concatenate([words, *pending])
    ones = np.ones(len(keys) - len(words), dtype="int64")
    distinct = find_distinct(keys)
    return distinct.values, _sum_by(distinct.copies, np.concatenate([counts, ones]))


def count_features(vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
    """Count "values" of each attribute, those seen "once", and "at_least_10" times."""
    counted = {attr: vocabulary.count_values(attr)[1] for attr in vocabulary.attrs}
    return {
        attr: {
            "values": len(counts),
            "once": int((counts == 1).sum()),
            "at_least_10": int((counts >= 10).sum()),
        }
        for attr, counts in counted.items()
    }


def _sum_by(groups: NDArray, counts: NDArray) -> NDArray:
    # floats are exact up to 2**53
    return np.bincount(groups, weights=counts).astype("int64")
