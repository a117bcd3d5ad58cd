"""The values that token attributes take in a corpus.

Counted as in table 4 of the report "Multi hash embeddings in spaCy".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.tokens import Doc

from ..kernels.distinct import find_distinct

# How many tokens are kept at least before they are reduced to distinct words.
_MIN_PENDING = 2**16


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The distinct words of a corpus, by ORTH and other attributes.

    attrs (tuple[str, ...]): The names of the other attributes.
    words (NDArray): ORTH and the other attributes of each word, as `Doc.to_array`
        gives them. *Shape:* `(n, 1 + attrs)`, uint64. The same ORTH is there twice
        where another attribute differs, such as a norm set by the tokenizer.
    counts (NDArray): How often each word was seen. *Shape:* `(n,)`, int64.
    """

    attrs: tuple[str, ...]
    words: NDArray
    counts: NDArray

    def get_columns(self, attrs: Sequence[str]) -> NDArray:
        """Get some attributes of all words. *Shape:* `(n, attrs)`."""
        return self.words[:, [1 + self.attrs.index(attr) for attr in attrs]]

    def get_words(self, attrs: Sequence[str]) -> NDArray:
        """Get the words that ORTH and some of the attributes tell apart.

        RETURNS (NDArray): ORTH and these attributes, each word once. *Shape:*
            `(m, 1 + attrs)`, uint64.
        """
        words = np.hstack([self.words[:, :1], self.get_columns(attrs)])
        return find_distinct(words).values if len(words) else words

    def count_values(self, attr: str) -> tuple[NDArray, NDArray]:
        """Count the values of one attribute.

        RETURNS (tuple): The distinct values in ascending order, and how often each was
            seen. *Shapes:* `(m,)`, uint64 and int64.
        """
        column = self.get_columns([attr])[:, 0]
        values, copies = np.unique(column, return_inverse=True)
        return values, _sum_by(copies, self.counts)


class VocabularyCounter:
    """Collects a vocabulary, a doc at a time. Memory grows with distinct words only.

    attrs (Sequence[str]): Names of token attributes.
    """

    def __init__(self, attrs: Sequence[str]) -> None:
        self._attrs = tuple(attrs)
        self._ids = [IDS[attr] for attr in ("ORTH", *attrs)]
        self._words = np.zeros((0, len(self._ids)), dtype="uint64")
        self._counts = np.zeros(0, dtype="int64")
        self._pending: list[NDArray] = []
        self._n_pending = 0

    def add(self, doc: Doc) -> None:
        """Count the tokens of a doc."""
        if len(doc) == 0:
            return
        self._pending.append(doc.to_array(self._ids).reshape(len(doc), -1))
        self._n_pending += len(doc)
        # as many as there are words, so that the time stays linear
        if self._n_pending > max(_MIN_PENDING, len(self._words)):
            self._merge()

    def get(self) -> Vocabulary:
        """Give the vocabulary so far."""
        self._merge()
        return Vocabulary(attrs=self._attrs, words=self._words, counts=self._counts)

    def _merge(self) -> None:
        if not self._pending:
            return
        keys = np.concatenate([self._words, *self._pending])
        ones = np.ones(self._n_pending, dtype="int64")
        words = find_distinct(keys)
        counts = np.concatenate([self._counts, ones])
        self._words, self._counts = words.values, _sum_by(words.copies, counts)
        self._pending, self._n_pending = [], 0


def collect_vocabulary(docs: Iterable[Doc], attrs: Sequence[str]) -> Vocabulary:
    """Collect the distinct words of a corpus, in one pass.

    docs (Iterable[Doc]): Read once, one Doc at a time.
    attrs (Sequence[str]): Names of token attributes.
    """
    counter = VocabularyCounter(attrs)
    for doc in docs:
        counter.add(doc)
    return counter.get()


def count_features(vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
    """Count the distinct values of each attribute: table 4.

    RETURNS (dict[str, dict[str, int]]): For each attribute its distinct "values", those
        seen "once", and those seen "at_least_10" times, as many as `MultiEmbed` gives a
        row by default.
    """
    features = {}
    for attr in vocabulary.attrs:
        _, counts = vocabulary.count_values(attr)
        features[attr] = {
            "values": len(counts),
            "once": int((counts == 1).sum()),
            "at_least_10": int((counts >= 10).sum()),
        }
    return features


def _sum_by(groups: NDArray, counts: NDArray) -> NDArray:
    # floats are exact up to 2**53
    return np.bincount(groups, weights=counts).astype("int64")
