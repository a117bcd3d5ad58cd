"""Reading `.spacy` files, with errors that name the file."""

import codecs
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from spacy.attrs import DEP, ENT_TYPE, LEMMA, TAG
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.training.corpus import FILE_TYPE, walk_corpus
from spacy.vocab import Vocab

#: The splits that `spacy hashembeds prepare` writes into one folder.
_TRAIN, *_HELD_OUT = "train.spacy", "dev.spacy", "test.spacy"

#: What spaCy has always put the strings of into the file. An unknown ORTH it refuses.
_NAMED = (LEMMA, TAG, DEP, ENT_TYPE)

_TEXT = (
    "text. Convert files with one token a line with `spacy hashembeds prepare iob -o "
    "FOLDER --train FILE --dev FILE --lang LANG`, and give a file that this writes; "
    "for other kinds see `spacy convert`."
)
_DAMAGED = (
    "truncated, damaged or of another kind. Make it anew, for example with `spacy "
    "convert`."
)


def read_docs(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Read gold docs from a `.spacy` file, or from a folder of them, one in memory."""
    for location in find_files(Path(path)):
        try:
            data = location.read_bytes()
            _check_content(srsly.msgpack_loads(zlib.decompress(data)), vocab)
            for doc in DocBin().from_bytes(data).get_docs(vocab):
                _check_spans(doc)
                yield doc
        except OSError:
            raise
        except Exception as error:
            # Damaged bytes fail anywhere between zlib and the doc's arrays.
            raise ValueError(
                f"'{location}' should be a .spacy file (a DocBin), but is "
                + (_TEXT if _is_text(location) else _DAMAGED)
            ) from error


def entity_texts(docs: Iterable[Doc]) -> set[str]:
    """Collect the texts of all entities as they are written, whatever their labels."""
    return {ent.text for doc in docs for ent in doc.ents}


def read_entity_texts(path: str | Path) -> frozenset[str]:
    """Collect the texts of all entities of what `read_docs` reads."""
    # A vocab of its own: the pipeline's would keep every word of the corpus.
    return frozenset(entity_texts(read_docs(path, Vocab())))


def read_examples(path: str | Path, nlp: Language) -> Iterator[Example]:
    """Read the examples that `spacy evaluate` makes of what `read_docs` reads."""
    # Corpus reads the files itself only when called, and names no broken one.
    return Corpus(path).make_examples(nlp, read_docs(path, nlp.vocab))


def _check_content(content: Mapping[str, Any], vocab: Vocab) -> None:
    """Refuse a `DocBin` that contradicts itself: spaCy drops what has no place."""
    attrs, lengths = content["attrs"], np.frombuffer(content["lengths"], "int32")
    n_tokens = int(lengths.sum())
    # By spaCy's format, what is not there has its default for each doc.
    of_docs = ("cats", "flags", "span_groups", "user_data")
    sizes = dict.fromkeys(of_docs, len(lengths))
    sizes |= {"tokens": 8 * n_tokens * len(attrs), "spaces": n_tokens}
    for key, size in sizes.items():
        if key in content and len(content[key]) != size:
            raise ValueError(f"{key}: {len(content[key])}, not {size}")
    if (lengths < 0).any() or len(set(attrs)) < len(attrs):
        raise ValueError(f"negative lengths, or attributes twice: {attrs}")
    if not all(isinstance(cats, dict) for cats in content["cats"]):
        raise ValueError("cats: no mapping")
    named = [attrs.index(attr) for attr in _NAMED if attr in attrs]
    tokens = np.frombuffer(content["tokens"], "uint64").reshape(-1, len(attrs))
    strings = StringStore(content["strings"])
    for value in np.unique(tokens[:, named]).tolist():
        if value and value not in strings and value not in vocab.strings:
            raise ValueError(f"{value} is not among the strings")


def _check_spans(doc: Doc) -> None:
    """Refuse spans outside the doc, at which spaCy fails when they are looked at, and
    labels that nobody can read.
    """
    for group in doc.spans.values():
        for span in group:
            if span.label and span.label not in doc.vocab.strings:
                raise ValueError(f"{span.label} is not among the strings")


def find_files(path: Path) -> list[Path]:
    """Find the `.spacy` files that are one corpus: one, or all in a folder."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}'.")
    if not path.is_dir():
        return [path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaCy warns of an empty folder; we refuse
        files = walk_corpus(path, FILE_TYPE)
    if not files:
        raise FileNotFoundError(f"There is no {FILE_TYPE} file in the folder '{path}'.")
    # A large split is a folder of files.
    splits = {f.parent if f.parent.suffix == FILE_TYPE else f for f in files}
    for folder in sorted({split.parent for split in splits}):
        held_out = [name for name in _HELD_OUT if folder / name in splits]
        if folder / _TRAIN in splits and held_out:  # they would count as one
            names = [_TRAIN, *held_out]
            raise ValueError(
                f"The folder '{folder}' should hold the files of one corpus, but holds "
                f"{len(names)} splits: {', '.join(names)}. Give the file that is "
                "meant: " + " or ".join(f"'{folder / name}'" for name in names) + "."
            )
    return files


def _is_text(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(4096)
    try:
        # A character may be cut off. DocBins are not UTF-8 in their second byte.
        return bool(codecs.getincrementaldecoder("utf-8")().decode(start))
    except UnicodeDecodeError:
        return False
