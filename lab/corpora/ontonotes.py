"""OntoNotes 5 in the format of CoNLL-2012, whose entities stand in brackets."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from spacy_hashembeds.files import quote
from spacy_hashembeds.tools.prepare.columns import Document, Sentence
from spacy_hashembeds.training.lines import fail, read_lines

# A name is "(GPE)" in one row, or "(GPE*", then any "*", then "*)".
_BRACKETS = re.compile(r"(?:\((?P<label>[^()*]+))?(?:\*|\*?(?P<close>\)))")
_WORD, _NAME = 3, 10


def read_ontonotes(path: Path) -> Iterator[Document]:
    """Read a file of OntoNotes, or all of a folder, lazily. Labels are kept as is.

    Each part of a document, from `#begin document` to `#end document`, is one.
    """
    files = sorted(path.rglob("*_gold_conll")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(
            f"There is no file whose name ends in '_gold_conll' in '{path}' or below. "
            "OntoNotes 5 is read in the format of CoNLL-2012."
        )
    for file in files:
        for part in _read_parts(file):
            blocks = groupby(part, key=lambda numbered: not numbered[1].strip())
            document = [_parse_names(file, rows) for blank, rows in blocks if not blank]
            if document:
                yield document


def _read_parts(path: Path) -> Iterator[list[tuple[int, str]]]:
    part: list[tuple[int, str]] | None = None
    number = 0
    for number, line in read_lines(path, "utf-8"):
        if line.startswith("#begin document") and part is None:
            part = []
        elif line.startswith("#end document") and part is not None:
            yield part
            part = None
        elif part is not None and not line.startswith("#begin"):
            part.append((number, line))
        elif line.strip():
            expected = "'#begin document' and '#end document' in turn"
            fail(path, number, f"expected {expected}, got {quote(line)}")
    if part is not None:
        fail(path, number, "the file ends within a document: it may be truncated")


def _parse_names(path: Path, rows: Iterable[tuple[int, str]]) -> Sentence:
    sentence = Sentence([], [])
    label: str | None = None  # of the entity that is open
    number = 0
    for number, line in rows:
        columns = line.split()
        if len(columns) <= _NAME:
            got = len(columns)
            fail(path, number, f"expected more than {_NAME} columns, got {got}")
        parsed = _BRACKETS.fullmatch(columns[_NAME])
        opens, closes = (parsed["label"], parsed["close"]) if parsed else (None, None)
        if not parsed or (opens and label) or (closes and not (opens or label)):
            expected = f"'*', '(LABEL*', '(LABEL)' or '*)' in column {_NAME}"
            got_name = f"opened and closed in turn, got {quote(columns[_NAME])}"
            fail(path, number, f"expected {expected}, {got_name}")
        label = opens or label
        sentence.words.append(columns[_WORD])
        sentence.tags.append(f"{'B' if opens else 'I'}-{label}" if label else "O")
        label = None if closes else label
    if label:
        opened = quote(f"({label}*")
        fail(path, number, f"the sentence ends within an entity, {opened}")
    return sentence
