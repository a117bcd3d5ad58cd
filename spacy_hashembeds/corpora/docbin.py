"""Reading `.spacy` files, with errors that name the file."""

import warnings
from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.training.corpus import FILE_TYPE, walk_corpus
from spacy.vocab import Vocab


def read_docs(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Read gold docs, one file at a time.

    path (str | Path): A `.spacy` file, or a folder of them.
    vocab (Vocab): The vocab of the docs.
    RAISES (FileNotFoundError): If there is no such file, or none in the folder.
    RAISES (ValueError): If a file is truncated or no `.spacy` file at all.
    YIELDS (Doc): The docs, in order.
    """
    for location in _find_files(Path(path)):
        try:
            yield from DocBin().from_disk(location).get_docs(vocab)
        except OSError:
            raise
        except Exception as error:
            # Damaged bytes fail anywhere between zlib and the doc's arrays.
            raise ValueError(
                f"'{location}' should be a .spacy file (a DocBin), but is truncated or "
                "of another kind. Make it anew, for example with `spacy convert`."
            ) from error


def read_examples(path: str | Path, nlp: Language) -> Iterator[Example]:
    """Read the examples that `spacy evaluate` makes of gold docs, as `read_docs` does.

    nlp (Language): The pipeline that is to annotate their predicted side.
    YIELDS (Example): The examples, in order.
    """
    # Corpus reads the files itself only when called, and names no broken one.
    return Corpus(path).make_examples(nlp, read_docs(path, nlp.vocab))


def _find_files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}'.")
    if not path.is_dir():
        return [path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaCy warns of an empty folder; we refuse
        files = walk_corpus(path, FILE_TYPE)
    if not files:
        raise FileNotFoundError(f"There is no {FILE_TYPE} file in the folder '{path}'.")
    return files
