"""The texts of the entities in a corpus, which are those seen in training."""

from collections.abc import Iterable
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from .docbin import read_docs


def entity_texts(docs: Iterable[Doc]) -> set[str]:
    """Collect the texts of all entities, as a training split is remembered by.

    docs (Iterable[Doc]): The annotated docs of the training split.
    RETURNS (set[str]): The texts as they are written, whatever their labels.
    """
    return {ent.text for doc in docs for ent in doc.ents}


def read_entity_texts(path: str | Path) -> frozenset[str]:
    """Collect the texts of all entities in a corpus.

    path (str | Path): A `.spacy` file, or a folder of them.
    RAISES (FileNotFoundError): If there is no such file, or none in the folder.
    RAISES (ValueError): If a file is truncated or no `.spacy` file at all.
    RETURNS (frozenset[str]): The exact texts, whatever the entities' types.
    """
    # A vocab of its own: the pipeline's would keep every word of the corpus.
    return frozenset(entity_texts(read_docs(path, Vocab())))
