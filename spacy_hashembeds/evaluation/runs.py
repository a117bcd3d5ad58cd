"""What there is to count in predictions, noted in one pass over them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from .chunks import ChunkCounter
from .confusions import ConfusionCounter
from .groups import TrainingKnowledge, group_entity
from .matching import Matches
from .schemes import SchemeCounter
from .scorer import ALL, KINDS, find_length, match_entities, summarize_matches

# What is counted: the prefix of a score, or a grouping; the length, or in a grouping
# the group, or "" for all; and a type, or None for all types.
Key = tuple[str, str, str | None]

# True positives, false positives, false negatives.
_Counts = dict[Key, list[int]]


class Run:
    """Scores examples, and notes what else there is to count.

    examples (Iterable[Example]): Predicted and gold docs; read once, at once.
    knowledge (TrainingKnowledge): What the training set has shown.
    golds (Iterable[Doc], optional): For each example a gold doc with the same entities
        on the same tokens, whose texts tell the seen ones from others. None: the
        references of the examples.

    It has then:

    scores (dict[str, Any]): Those of `score_seen_unseen`.
    n_read (int): How many documents there were.
    documents (list[dict]): For each document with entity annotation its counts.
    confusions (ConfusionCounter): The errors.
    schemes (SchemeCounter): What the entities are under each scheme.
    chunks (ChunkCounter): The tokens by chunk tag.
    """

    def __init__(
        self,
        examples: Iterable[Example],
        knowledge: TrainingKnowledge,
        golds: Iterable[Doc] | None = None,
    ) -> None:
        self._knowledge = knowledge
        self.n_read = 0
        self.documents: list[_Counts] = []
        self.confusions = ConfusionCounter()
        self.schemes = SchemeCounter()
        self.chunks = ChunkCounter()
        pairs = (
            ((example, example.reference) for example in examples)
            if golds is None
            else zip(examples, golds, strict=True)
        )
        self.scores = summarize_matches(self._match(pairs))

    def stack_totals(self) -> np.ndarray:
        """Count all types together, shape (n_documents, n_kinds, 3)."""
        return self.stack([(prefix, "", None) for prefix in KINDS.values()])

    def stack(self, keys: Sequence[Key]) -> np.ndarray:
        """Give counts of each document, shape (n_documents, n_keys, 3)."""
        rows = [[doc.get(key, [0, 0, 0]) for key in keys] for doc in self.documents]
        return np.array(rows, dtype="int32").reshape(len(rows), len(keys), 3)

    def summarize_schemes(self) -> dict[str, Any]:
        """Score all, the seen and the unseen entities under each scheme."""
        return {kind: self.schemes.summarize(prefix) for kind, prefix in KINDS.items()}

    def _match(
        self, pairs: Iterable[tuple[Example, Doc]]
    ) -> Iterator[dict[str, Matches]]:
        """Match each doc; yield its matches once they are noted."""
        for number, (example, gold) in enumerate(pairs):
            self.n_read += 1
            matches = match_entities(example, self._knowledge.entities, gold)
            if matches:
                counts = _count_scores(matches)
                counts.update(_count_groups(gold, matches, self._knowledge))
                self.documents.append(counts)
                self.confusions.add(number, example.reference, matches[ALL])
                self.schemes.add(matches)
                self.chunks.add(example, matches[ALL])
            yield matches


def _count_scores(views: Mapping[str, Matches]) -> _Counts:
    counts: _Counts = defaultdict(lambda: [0, 0, 0])
    for prefix, matches in views.items():
        outcomes = (matches.correct, matches.spurious, matches.missed)
        for i, keys in enumerate(outcomes):
            for label, start, end in keys:
                counts[prefix, "", None][i] += 1
                counts[prefix, "", label][i] += 1
                counts[prefix, find_length(start, end), None][i] += 1
    return counts


def _count_groups(
    gold: Doc, views: Mapping[str, Matches], knowledge: TrainingKnowledge
) -> _Counts:
    counts: _Counts = defaultdict(lambda: [0, 0, 0])
    found = set(views[ALL].correct)
    for ent in gold.ents:
        i = 0 if (ent.label_, ent.start, ent.end) in found else 2
        for grouping, group in group_entity(ent, knowledge).items():
            counts[grouping, group, None][i] += 1
            counts[grouping, group, ent.label_][i] += 1
    return counts
