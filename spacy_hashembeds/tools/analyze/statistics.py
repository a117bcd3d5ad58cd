"""Statistics of a corpus: tables 5 and 6 of the report."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab


class StatisticsCounter:
    """Counts what one split holds, in memory for distinct tokens and entities only."""

    def __init__(self, docs: Iterable[Doc] = ()) -> None:
        self._documents = self._entity_tokens = 0
        self._words: Counter[str] = Counter()
        self._entities: Counter[tuple[str, str]] = Counter()  # labels and texts
        for doc in docs:
            self.add(doc)

    @property
    def entity_texts(self) -> set[str]:
        """The distinct texts of entities so far."""
        return {text for _, text in self._entities}

    def add(self, doc: Doc) -> None:
        """Count an annotated doc."""
        self._documents += 1
        self._words.update(token.orth_ for token in doc)
        self._entities.update((ent.label_, ent.text) for ent in doc.ents)
        self._entity_tokens += sum(map(len, doc.ents))

    def get_statistics(self, vectors: Vocab | None = None) -> dict[str, Any]:
        """Return the counts so far: table 5 for one split. Means over nothing are 0.

        "classes": distinct entity labels. "vocabulary": distinct tokens, by ORTH: case
        counts. "document_length", "entity_length": means, in tokens. "unknown":
        distinct tokens without vectors, of which floret's know every word.
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
        """Count entities "seen", whose text is among `train_texts` (case counts, labels
        do not), and "unseen"; "per_type" both by label: table 6 for one split.
        """
        labels = sorted({label for label, _ in self._entities})
        per_type = {label: {"seen": 0, "unseen": 0} for label in labels}
        for (label, text), count in self._entities.items():
            per_type[label]["seen" if text in train_texts else "unseen"] += count
        total = {k: sum(c[k] for c in per_type.values()) for k in ("seen", "unseen")}
        return {**total, "per_type": per_type}
