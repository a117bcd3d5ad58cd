"""What a corpus holds.

Counted as in tables 5 and 6 of the report "Multi hash embeddings in spaCy".
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from spacy.tokens import Doc


@dataclass(frozen=True, kw_only=True)
class CorpusStatistics:
    """Table 5 for one split. Means over nothing are 0.

    documents (int): Documents.
    tokens (int): Tokens.
    entities (int): Entities.
    classes (int): Distinct entity labels.
    vocabulary (int): Distinct tokens, by ORTH: case counts.
    entities_per_document (float): Mean number of entities in a document.
    document_length (float): Mean length of a document, in tokens.
    entity_length (float): Mean length of an entity, in tokens.
    """

    documents: int
    tokens: int
    entities: int
    classes: int
    vocabulary: int
    entities_per_document: float
    document_length: float
    entity_length: float


@dataclass(frozen=True, kw_only=True)
class SeenUnseen:
    """Table 6 for one split.

    seen (int): Entities whose text is that of an entity in the training split.
    unseen (int): The other entities.
    """

    seen: int
    unseen: int


def corpus_statistics(docs: Iterable[Doc]) -> CorpusStatistics:
    """Count what one split holds, in one pass.

    docs (Iterable[Doc]): Its annotated docs.
    RETURNS (CorpusStatistics): The counts.
    """
    documents = tokens = entities = entity_tokens = 0
    orths: set[int] = set()
    labels: set[str] = set()
    for doc in docs:
        documents += 1
        tokens += len(doc)
        orths.update(token.orth for token in doc)
        entities += len(doc.ents)
        entity_tokens += sum(len(ent) for ent in doc.ents)
        labels.update(ent.label_ for ent in doc.ents)
    return CorpusStatistics(
        documents=documents,
        tokens=tokens,
        entities=entities,
        classes=len(labels),
        vocabulary=len(orths),
        entities_per_document=_mean(entities, documents),
        document_length=_mean(tokens, documents),
        entity_length=_mean(entity_tokens, entities),
    )


def entity_texts(docs: Iterable[Doc]) -> set[str]:
    """Collect the texts of all entities, as a training split is remembered by.

    docs (Iterable[Doc]): The annotated docs of the training split.
    RETURNS (set[str]): The texts as they are written, whatever their labels.
    """
    return {ent.text for doc in docs for ent in doc.ents}


def count_seen_unseen(train_texts: Collection[str], docs: Iterable[Doc]) -> SeenUnseen:
    """Count the entities that training has shown, by exact text: case counts, labels do
    not.

    train_texts (Collection[str]): From `entity_texts`.
    docs (Iterable[Doc]): The annotated docs of a development or test split.
    RETURNS (SeenUnseen): The two counts, which add up to all entities.
    """
    seen = unseen = 0
    for doc in docs:
        for ent in doc.ents:
            if ent.text in train_texts:
                seen += 1
            else:
                unseen += 1
    return SeenUnseen(seen=seen, unseen=unseen)


def _mean(total: int, count: int) -> float:
    return total / count if count else 0.0
