"""Documents that stand in the training set and in the gold corpus, word for word."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from spacy.attrs import ORTH
from spacy.tokens import Doc

#: The fewest tokens of a document that hardly stands in both by chance. "Figure 2." or
#: "Madrid, 23 may (EFE)." may well: in AnEM 5% of the sentences stand in training too,
#: but not one of ten tokens or more.
LONG = 10


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """How many documents of the gold corpus stand in the training set too.

    documents (int): How many do, of whatever length.
    long_documents (int): How many of those with `LONG` tokens or more.
    of_long_documents (int): How many of this length there are.
    """

    documents: int
    long_documents: int
    of_long_documents: int


def count_shared(docs: Iterable[Doc], train: Set[bytes]) -> Sharing:
    """Count the documents that stand in the training set too, whatever their entities.

    docs (Iterable[Doc]): The gold docs.
    train (Set[bytes]): What `identify` gives of each doc of the training set.
    RETURNS (Sharing): The counts.
    """
    found = [(len(doc) >= LONG, identify(doc) in train) for doc in docs]
    return Sharing(
        documents=sum(is_shared for _, is_shared in found),
        long_documents=sum(is_long and is_shared for is_long, is_shared in found),
        of_long_documents=sum(is_long for is_long, _ in found),
    )


def identify(doc: Doc) -> bytes:
    """Give the tokens of a doc as few bytes, equal for equal ones in any vocab."""
    return doc.to_array([ORTH]).tobytes()
