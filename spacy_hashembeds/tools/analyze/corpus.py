"""Statistics of a corpus, as in tables 4 to 6 of the report."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ...architectures.features import allow_missing, read_keys
from ...arguments import list_extensions
from ...training.features import register_extensions


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Words of a corpus, distinct by ORTH and other attributes such as norms."""

    attrs: tuple[str, ...]  #: The other attributes.
    words: NDArray  #: ORTH and `attrs`. *Shape:* `(n, 1 + attrs)`, uint64.
    counts: NDArray  #: Frequency of each word. *Shape:* `(n,)`, int64.

    def get_columns(self, attrs: Sequence[str]) -> NDArray:
        """Get ORTH or other attributes of all words. *Shape:* `(n, attrs)`."""
        columns = ("ORTH", *self.attrs)
        return self.words[:, [columns.index(attr) for attr in attrs]]

    def count_values(self, attr: str) -> tuple[NDArray, NDArray]:
        """Count an attribute's values, sorted. *Shapes:* `(m,)`, uint64 and int64."""
        column = self.get_columns([attr])[:, 0]
        values, copies = np.unique(column, return_inverse=True)
        # floats are exact up to 2**53
        return values, np.bincount(copies, weights=self.counts).astype("int64")


def collect_vocabulary(docs: Iterable[Doc], attrs: Sequence[str]) -> Vocabulary:
    """Collect the distinct words of docs. Features need not be registered, and may be
    missing.
    """
    columns = ["ORTH", *attrs]
    found: Counter[bytes] = Counter()
    new = register_extensions(list_extensions(attrs))
    try:
        for doc in docs:
            allow_missing([doc])
            found.update(list_rows(read_keys([doc], columns)))
    finally:
        for name in new:
            Token.remove_extension(name)
    words = np.frombuffer(b"".join(found), dtype="uint64").reshape(-1, len(columns))
    counts = np.array([*found.values()], dtype="int64")
    return Vocabulary(attrs=tuple(attrs), words=words, counts=counts)


def list_rows(matrix: NDArray) -> list[bytes]:
    """Return each row as bytes. *Shape:* `(n, k)`, uint64."""
    rows = np.ascontiguousarray(matrix, dtype="uint64").view(f"V{8 * matrix.shape[1]}")
    return rows.reshape(-1).tolist()


def count_features(vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
    """Count each attribute's "values", and those seen "once" or "at_least_10" times."""
    found = {}
    for attr in vocabulary.attrs:
        _, counts = vocabulary.count_values(attr)
        numbers = (len(counts), int((counts == 1).sum()), int((counts >= 10).sum()))
        found[attr] = dict(zip(("values", "once", "at_least_10"), numbers, strict=True))
    return found


class StatisticsCounter:
    """Counts one split. Memory grows with distinct tokens and entities only."""

    def __init__(self, docs: Iterable[Doc] = ()) -> None:
        self._documents = self._entity_tokens = 0
        self._words: Counter[str] = Counter()
        self._entities: Counter[tuple[str, str]] = Counter()  # labels and texts
        for doc in docs:
            self.add(doc)

    @property
    def entity_texts(self) -> set[str]:
        """The distinct texts of entities."""
        return {text for _, text in self._entities}

    def add(self, doc: Doc) -> Doc:
        """Count an annotated doc, and return it."""
        self._documents += 1
        self._words.update(token.orth_ for token in doc)
        self._entities.update((ent.label_, ent.text) for ent in doc.ents)
        self._entity_tokens += sum(map(len, doc.ents))
        return doc

    def get_statistics(self, vectors: Vocab | None = None) -> dict[str, Any]:
        """Return the counts, as in table 5. Means of no items are 0.

        "classes": distinct entity labels. "vocabulary": distinct tokens by ORTH.
        "document_length", "entity_length": means, in tokens. "unknown": distinct tokens
        without vectors; floret vectors cover all words.
        """
        tokens, entities = self._words.total(), self._entities.total()
        return {
            "documents": self._documents,
            "tokens": tokens,
            "entities": entities,
            "classes": len({label for label, _ in self._entities}),
            "vocabulary": len(self._words),
            "entities_per_document": entities / max(self._documents, 1),
            "document_length": tokens / max(self._documents, 1),
            "entity_length": self._entity_tokens / max(entities, 1),
            "unknown": vectors and sum(not vectors.has_vector(w) for w in self._words),
        }

    def count_seen(self, train_texts: Collection[str]) -> dict[str, Any]:
        """Count entities "seen" and "unseen", and both "per_type", as in table 6. An
        entity of any label is seen if `train_texts` has its text, case-sensitive.
        """
        total = {"seen": 0, "unseen": 0}
        labels = sorted({label for label, _ in self._entities})
        per_type = {label: {**total} for label in labels}
        for (label, text), count in self._entities.items():
            for counts in (total, per_type[label]):
                counts["seen" if text in train_texts else "unseen"] += count
        return {**total, "per_type": per_type}
