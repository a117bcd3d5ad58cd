"""Annotated docs from whatever holds some: `.spacy` files, or one token a line."""

from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab

from .columns import ColumnFormat, read_documents
from .docbin import read_docs
from .readers import make_doc


def read_annotated(
    path: str | Path, vocab: Vocab, *, layout: ColumnFormat
) -> Iterator[Doc]:
    """Read docs with entities.

    path (str | Path): A `.spacy` file, or a folder of them; any other file is text with
        one token a line, in the IOB, BIO, BILUO or BIOES scheme.
    vocab (Vocab): The vocab of the docs.
    layout (ColumnFormat): How such text is laid out.
    RAISES (FileNotFoundError): If there is no such file, or none in the folder.
    RAISES (ValueError): If a file can't be read, or is of another kind: see
        `read_docs` and `read_documents`.
    YIELDS (Doc): The docs, in order.
    """
    path = Path(path)
    if (path / "meta.json").is_file():
        raise ValueError(
            f"'{path}' should be a corpus, but is a pipeline. See --help for the order "
            "of the arguments."
        )
    if path.exists() and not path.is_dir() and path.suffix != FILE_TYPE:
        for document in read_documents(path, layout):
            yield make_doc(vocab, document)
    else:
        yield from read_docs(path, vocab)
