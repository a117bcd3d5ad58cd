"""Statistics of a corpus: tables 5 and 6 of the report."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab


class StatisticsCounter:
    """Counts what one split holds, in memory for distinct tokens and entities only."""

    def __init__(self, docs: Iterable[Doc] = ()) -> None:
        self._entity_tokens = self._whitespace_entities = 0
        #: How many docs there are of each number of tokens.
        self.lengths: Counter[int] = Counter()
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
        self.lengths[len(doc)] += 1
        self._words.update(token.orth_ for token in doc)
        for ent in doc.ents:
            self._entities[ent.label_, ent.text] += 1
            self._entity_tokens += len(ent)
            # not `is_space`, which a vocab without a language does not know
            ends = (ent[0].orth_, ent[-1].orth_)
            self._whitespace_entities += any(map(str.isspace, ends))

    def get_statistics(self, vectors: Vocab | None = None) -> dict[str, Any]:
        """Give the counts so far: table 5 for one split. Means over nothing are 0.

        "classes": distinct entity labels. "vocabulary": distinct tokens, by ORTH: case
        counts. "document_length", "entity_length": means, in tokens.
        "whitespace_entities": those that begin or end with white space. "unknown":
        distinct tokens without vectors, of which floret's know every word.
        """
        tokens, entities = self._words.total(), self._entities.total()
        documents = self.lengths.total()
        return {
            "documents": documents,
            "tokens": tokens,
            "entities": entities,
            "classes": len({label for label, _ in self._entities}),
            "vocabulary": len(self._words),
            "entities_per_document": entities / max(documents, 1),
            "document_length": tokens / max(documents, 1),
            "entity_length": self._entity_tokens / max(entities, 1),
            "whitespace_entities": self._whitespace_entities,
            "unknown": None
            if vectors is None
            else sum(not vectors.has_vector(word) for word in self._words),
        }

    def count_seen(self, train_texts: Collection[str]) -> dict[str, Any]:
        """Count entities "seen", whose text is among `train_texts` (case counts, labels
        do not), and "unseen"; "per_type" both by label: table 6 for one split.
        """
        counts = {
            label: {"seen": 0, "unseen": 0}
            for label in sorted({label for label, _ in self._entities})
        }
        for (label, text), count in self._entities.items():
            counts[label]["seen" if text in train_texts else "unseen"] += count
        return {
            "seen": sum(of_label["seen"] for of_label in counts.values()),
            "unseen": sum(of_label["unseen"] for of_label in counts.values()),
            "per_type": counts,
        }


def warn_of_whitespace(splits: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Warn of entities that no NER of spaCy's or ours finds, as `spacy debug data`."""
    counts = {split: found["whitespace_entities"] for split, found in splits.items()}
    if not any(counts.values()):
        return None
    numbers = ", ".join(f"{n:,} in {split}" for split, n in counts.items() if n)
    return (
        f"Invalid whitespace entity spans: {numbers}. Entity spans consisting of or "
        "starting/ending with whitespace characters can be neither learned nor found. "
        "Correct the annotation."
    )
