"""What a corpus holds.

Counted as in tables 5 and 6 of the report "Multi hash embeddings in spaCy".
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from spacy.tokens import Doc
from spacy.vocab import Vocab


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
    unknown (int, optional): Distinct tokens that given vectors don't know, None
        without vectors.
    """

    documents: int
    tokens: int
    entities: int
    classes: int
    vocabulary: int
    entities_per_document: float
    document_length: float
    entity_length: float
    unknown: int | None = None


@dataclass(frozen=True, kw_only=True)
class SeenUnseen:
    """Table 6 for one split, or for one type in it.

    seen (int): Entities whose text is that of an entity in the training split.
    unseen (int): The other entities.
    """

    seen: int
    unseen: int


class StatisticsCounter:
    """Counts what one split holds, a doc at a time.

    Memory grows with distinct tokens and labels only.
    """

    def __init__(self) -> None:
        self._documents = self._tokens = self._entities = self._entity_tokens = 0
        self._words: set[str] = set()
        self._labels: set[str] = set()

    def add(self, doc: Doc) -> None:
        """Count an annotated doc."""
        self._documents += 1
        self._tokens += len(doc)
        self._words.update(token.orth_ for token in doc)
        for ent in doc.ents:
            self._entities += 1
            self._entity_tokens += len(ent)
            self._labels.add(ent.label_)

    def get(self, vectors: Vocab | None = None) -> CorpusStatistics:
        """Give the counts so far.

        vectors (Vocab, optional): The vocab whose vectors tokens are looked up in.
        """
        return CorpusStatistics(
            documents=self._documents,
            tokens=self._tokens,
            entities=self._entities,
            classes=len(self._labels),
            vocabulary=len(self._words),
            entities_per_document=_mean(self._entities, self._documents),
            document_length=_mean(self._tokens, self._documents),
            entity_length=_mean(self._entity_tokens, self._entities),
            unknown=None if vectors is None else count_unknown(self._words, vectors),
        )


class SeenUnseenCounter:
    """Counts the entities that training has shown, a doc at a time.

    train_texts (Collection[str]): From `entity_texts`.
    """

    def __init__(self, train_texts: Collection[str]) -> None:
        self._train_texts = train_texts
        self._counts: Counter[tuple[str, bool]] = Counter()

    def add(self, doc: Doc) -> None:
        """Count an annotated doc."""
        for ent in doc.ents:
            self._counts[ent.label_, ent.text in self._train_texts] += 1

    def get(self) -> SeenUnseen:
        """Give the counts so far, of all types together."""
        types = self.get_per_type().values()
        return SeenUnseen(
            seen=sum(count.seen for count in types),
            unseen=sum(count.unseen for count in types),
        )

    def get_per_type(self) -> dict[str, SeenUnseen]:
        """Give the counts so far of each type, the types in alphabetic order."""
        return {
            label: SeenUnseen(
                seen=self._counts[label, True], unseen=self._counts[label, False]
            )
            for label in sorted({label for label, _ in self._counts})
        }


def corpus_statistics(
    docs: Iterable[Doc], vectors: Vocab | None = None
) -> CorpusStatistics:
    """Count what one split holds, in one pass.

    docs (Iterable[Doc]): Its annotated docs.
    vectors (Vocab, optional): The vocab whose vectors tokens are looked up in.
    RETURNS (CorpusStatistics): The counts.
    """
    counter = StatisticsCounter()
    for doc in docs:
        counter.add(doc)
    return counter.get(vectors)


def count_unknown(words: Iterable[str], vectors: Vocab) -> int:
    """Count the words that vectors don't know.

    words (Iterable[str]): Distinct tokens, as they are written.
    vectors (Vocab): The vocab with the vectors. It looks a word up by the attribute
        that they are made for, by default ORTH. Floret vectors know every word.
    """
    return sum(not vectors.has_vector(word) for word in words)


def count_seen_unseen(train_texts: Collection[str], docs: Iterable[Doc]) -> SeenUnseen:
    """Count the entities that training has shown, by exact text: case counts, labels do
    not.

    train_texts (Collection[str]): From `entity_texts`.
    docs (Iterable[Doc]): The annotated docs of a development or test split.
    RETURNS (SeenUnseen): The two counts, which add up to all entities.
    """
    counter = SeenUnseenCounter(train_texts)
    for doc in docs:
        counter.add(doc)
    return counter.get()


def _mean(total: int, count: int) -> float:
    return total / count if count else 0.0
