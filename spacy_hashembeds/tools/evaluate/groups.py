"""Gold entities in groups, by what the training set has shown of them.

They have recall and no precision: a prediction that is wrong belongs to no group.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from spacy.attrs import ORTH
from spacy.tokens import Doc, Span

#: The fewest tokens of a document that hardly stands in two corpora by chance: in AnEM
#: 5% of the test set's sentences stand in training too, but none of ten tokens or more.
LONG = 10

_RANGES = {name: name for name in ("0", "1", "2-9", "10-99", "100+")}

#: All ways to divide entities, by name: a title, and the groups with their texts.
GROUPINGS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "knowledge": (
        "What training has shown of the entity",
        {
            "same_type": "text seen as an entity of this type",
            "other_type": "text seen only as another type",
            "tokens_seen": "new entity, all tokens seen",
            "tokens_partly_seen": "new entity, some tokens seen",
            "tokens_unseen": "new entity, no token seen",
        },
    ),
    "frequency": ("Times the text was an entity in training", _RANGES),
    "token_frequency": ("Times its rarest token stood in training", _RANGES),
}


class TrainingKnowledge(NamedTuple):
    """Counts of a training set's texts of entities, by type, and of its tokens; and its
    documents, as `identify` returns them.
    """

    entities: Mapping[str, Mapping[str, int]]
    tokens: Mapping[str, int]
    documents: Set[bytes]


def learn_training_set(docs: Iterable[Doc]) -> TrainingKnowledge:
    """Count the entities, tokens and documents of a training set, in one pass."""
    entities: dict[str, Counter[str]] = {}
    tokens: Counter[str] = Counter()
    documents: set[bytes] = set()
    for doc in docs:
        tokens.update(token.text for token in doc)
        documents.add(identify(doc))
        for ent in doc.ents:
            entities.setdefault(ent.text, Counter())[ent.label_] += 1
    return TrainingKnowledge(entities, tokens, documents)


def identify(doc: Doc) -> bytes:
    """Return the tokens of a doc as few bytes, equal for equal ones in any vocab."""
    return doc.to_array([ORTH]).tobytes()


def count_shared(docs: Iterable[Doc], train: Set[bytes]) -> dict[str, int]:
    """Count the documents that stand in the training set too, and the `LONG` ones."""
    found = Counter((len(doc) >= LONG, identify(doc) in train) for doc in docs)
    return {
        "documents": found[True, True] + found[False, True],
        "long_documents": found[True, True],
        "of_long_documents": found[True, True] + found[True, False],
    }


def group_entity(ent: Span, knowledge: TrainingKnowledge) -> dict[str, str]:
    """Return the group of a gold entity in each of `GROUPINGS`.

    "same_type" and "other_type" together are the seen entities of the scorer. For the
    others a token counts wherever it stood in training: an embedding learns it there.
    """
    labels = knowledge.entities.get(ent.text, {})
    counts = [knowledge.tokens.get(token.text, 0) for token in ent]
    if labels:
        known = "same_type" if ent.label_ in labels else "other_type"
    elif all(counts):
        known = "tokens_seen"
    else:
        known = "tokens_partly_seen" if any(counts) else "tokens_unseen"
    ranges, starts = list(_RANGES), (1, 2, 10, 100)
    return {
        "knowledge": known,
        "frequency": ranges[bisect_right(starts, sum(labels.values()))],
        "token_frequency": ranges[bisect_right(starts, min(counts))],
    }
