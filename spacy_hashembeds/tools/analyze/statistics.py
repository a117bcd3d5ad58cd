"""Statistics of a corpus: tables 5 and 6 of the report, and lengths."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

# The share of Docs that are not called long.
_USUAL = 0.95


class StatisticsCounter:
    """Counts what one split holds, in memory for distinct tokens and entities only."""

    def __init__(self, docs: Iterable[Doc] = ()) -> None:
        self._entity_tokens = 0
        #: The number of docs of each length in tokens.
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
        self._entities.update((ent.label_, ent.text) for ent in doc.ents)
        self._entity_tokens += sum(map(len, doc.ents))

    def get_statistics(self, vectors: Vocab | None = None) -> dict[str, Any]:
        """Return the counts so far: table 5 for one split. Means over nothing are 0.

        "classes": distinct entity labels. "vocabulary": distinct tokens, by ORTH: case
        counts. "document_length", "entity_length": means, in tokens. "unknown":
        distinct tokens without vectors, of which floret's know every word.
        """
        tokens, entities = self._words.total(), self._entities.total()
        documents = self.lengths.total()
        unknown = vectors and sum(not vectors.has_vector(w) for w in self._words)
        return {
            "documents": documents,
            "tokens": tokens,
            "entities": entities,
            "classes": len({label for label, _ in self._entities}),
            "vocabulary": len(self._words),
            "entities_per_document": entities / max(documents, 1),
            "document_length": tokens / max(documents, 1),
            "entity_length": self._entity_tokens / max(entities, 1),
            "unknown": unknown,
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


def compare_lengths(train: Counter[int], served: Counter[int]) -> dict[str, Any]:
    """Compare how many tokens the Docs of training have, and texts to be served.

    train, served (Counter[int]): How many Docs there are of each length.
    RETURNS (dict): For "train" and "text" how many "documents", and the "lower"
        quartile, "median" and "upper" quartile of their tokens; "longer", the share of
        texts that are longer than 19 of 20 Docs of training, 0 to 1.
    """
    found: dict[str, Any] = {}
    for name, lengths in {"train": train, "text": served}.items():
        quartiles = _find_quantiles(lengths, [0.25, 0.5, 0.75])
        found[name] = {"documents": lengths.total()}
        found[name] |= zip(("lower", "median", "upper"), quartiles, strict=True)
    (usual,) = _find_quantiles(train, [_USUAL])
    longer = sum(n for length, n in served.items() if length > usual)
    return {**found, "longer": longer / max(served.total(), 1)}


def _find_quantiles(lengths: Counter[int], shares: list[float]) -> list[int]:
    """Find the least lengths that such shares of Docs do not exceed; 0 of nothing."""
    every = np.repeat([*lengths] or [0], [*lengths.values()] or [1])
    found: list[int] = np.quantile(every, shares, method="inverted_cdf").tolist()
    return found
