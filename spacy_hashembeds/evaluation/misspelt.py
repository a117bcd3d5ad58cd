"""What is lost where entities are misspelt.

A pipeline reads a copy of the gold corpus in which the same tokens have other words, as
`python -m lab misspell` makes it. What it finds is scored against the gold corpus:
an entity that training has shown counts as seen, though its misspelling never was.
"""

from collections.abc import Iterable
from itertools import zip_longest

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .predictions import get_reference
from .sources import Source

# What a misspelt copy has of each token as the gold corpus has it.
_SHARED: list[int | str] = ["ENT_IOB", "ENT_TYPE"]


def check_reads(source: Source) -> None:
    """Check that a source can read a misspelt copy.

    RAISES (ValueError): If it is no pipeline.
    """
    if not isinstance(source.docs, Language):
        raise ValueError(
            "'misspelt' (--misspelt) is read by a pipeline once more, but "
            f"'{source.name}' are predictions. Give the pipeline that made them, or "
            "evaluate predictions of the misspelt corpus against that corpus."
        )


def read_misspelt(
    misspelt: Source, golds: Iterable[Doc | Example], gold: str
) -> list[Doc | Example]:
    """Read a misspelt copy of the gold corpus.

    misspelt (Source): The copy.
    golds (Iterable[Doc | Example]): The gold docs.
    gold (str): What errors call them.
    RAISES (ValueError): If the copy has not their documents, tokens and entities.
    RETURNS (list[Doc | Example]): The docs of the copy that have tokens, in order.
    """
    copies = [doc for doc in misspelt.docs if len(get_reference(doc))]
    references = map(get_reference, copies)
    pairs = zip_longest(references, find_golds(golds))
    for number, (copy, reference) in enumerate(pairs):
        if copy is None or reference is None or not _are_alike(copy, reference):
            raise ValueError(
                f"'{misspelt.name}', the misspelt corpus, should have the documents, "
                f"tokens and entities of the gold corpus '{gold}', but differs in "
                f"document {number}, counted from 0 and without empty ones. Make it of "
                "that corpus with `python -m lab misspell`."
            )
    return copies


def find_golds(golds: Iterable[Doc | Example]) -> list[Doc]:
    """Give the gold docs that have tokens: those of which there are examples."""
    return [doc for doc in map(get_reference, golds) if len(doc)]


def _are_alike(copy: Doc, gold: Doc) -> bool:
    return np.array_equal(copy.to_array(_SHARED), gold.to_array(_SHARED))
