"""Read `.spacy` files, with errors that name the file."""

import warnings
import zlib
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.training.corpus import FILE_TYPE, walk_corpus
from spacy.vocab import Vocab
from srsly.msgpack import Unpacker

#: The splits that `spacy hashembeds prepare` writes into one folder.
_TRAIN, *_HELD_OUT = "train.spacy", "dev.spacy", "test.spacy"


def read_docs(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield gold docs from a `.spacy` file or folder, one file at a time."""
    for location in find_files(Path(path)):
        try:
            for doc in _get_docs(location.read_bytes(), vocab):
                _check_annotation(doc)
                yield doc
        except OSError:
            raise
        except Exception as error:
            # any error of zlib, msgpack or spaCy
            raise ValueError(
                f"'{location}' should be a .spacy file (a DocBin), but is damaged or "
                "has another format. Recreate it with `spacy hashembeds prepare iob`, "
                "`spans` or `texts`, or with `spacy convert`."
            ) from error


def _check_annotation(doc: Doc) -> None:
    # spaCy validates spans later, and fails for entities that begin with I
    for span in chain(doc.ents, *doc.spans.values()):
        for name in filter(None, (span.label, span.kb_id, span.id)):
            if name not in doc.vocab.strings:
                raise ValueError(f"{name} is not in the StringStore")
    if not all(isinstance(key, str) for key in doc.spans):
        raise TypeError("a span group key is not a string")
    for label, value in doc.cats.items():
        if not (isinstance(label, str) and isinstance(value, int | float)):
            raise TypeError(f"{label}: {value} is not a valid category")


def _get_docs(file: bytes, vocab: Vocab) -> Iterator[Doc]:
    """Yield Docs like `DocBin.get_docs`, with a shared unpacker of user data, whose
    construction searches entry points and would take most of the time.
    """
    # spaCy silently truncates Docs if tokens are missing, and ignores surplus tokens
    content = srsly.msgpack_loads(zlib.decompress(file))
    lengths = np.frombuffer(content["lengths"], dtype="int32")
    n_bytes = lengths.sum(dtype="int64") * len(content["attrs"]) * 8
    if n_bytes != len(content["tokens"]) or (lengths < 0).any():
        raise ValueError("lengths of Docs do not match the number of tokens")
    doc_bin = DocBin().from_bytes(file)
    packed, doc_bin.user_data = doc_bin.user_data, []
    unpacker = Unpacker(raw=False, use_list=False, max_buffer_size=0)
    for doc, data in zip_longest(doc_bin.get_docs(vocab), packed):
        if data is not None:
            unpacker.feed(data)
            doc.user_data.update(unpacker.unpack())
        yield doc


def read_entity_texts(path: str | Path) -> frozenset[str]:
    """Return the texts of all entities in a corpus: see `read_docs`."""
    # a temporary vocab, since vocabs keep all words
    docs = read_docs(path, Vocab())
    return frozenset(ent.text for doc in docs for ent in doc.ents)


def read_examples(path: str | Path, nlp: Language) -> Iterator[Example]:
    """Read examples as `spacy evaluate` does. Errors name the damaged file."""
    return Corpus(path).make_examples(nlp, read_docs(path, nlp.vocab))


def find_files(path: Path) -> list[Path]:
    """Return the `.spacy` files of a corpus: the path itself, or all in a folder."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}'.")
    if not path.is_dir():
        return [path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # raised as an error below
        files = walk_corpus(path, FILE_TYPE)
    if not files:
        raise FileNotFoundError(f"There is no {FILE_TYPE} file in the folder '{path}'.")
    # a folder named `train.spacy`, as written by Spark, is one split
    splits = {f.parent if f.parent.suffix == FILE_TYPE else f for f in files}
    for folder in sorted({split.parent for split in splits}):
        held_out = [name for name in _HELD_OUT if folder / name in splits]
        if folder / _TRAIN in splits and held_out:  # they would be read as one corpus
            raise ValueError(
                f"The folder '{folder}' should contain one corpus, but has splits: "
                f"{', '.join([_TRAIN, *held_out])}. Pass the intended file."
            )
    return files
