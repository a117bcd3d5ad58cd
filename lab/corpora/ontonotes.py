"""OntoNotes 5 in the format of CoNLL-2012, with entities in brackets."""

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
    """Read the files of a folder lazily. Each part of a file is a document."""
    files = sorted(path.rglob("*_gold_conll"))
    if not files:
        raise FileNotFoundError(
            "There should be files of OntoNotes 5 in the format of CoNLL-2012, whose "
            f"names end in '_gold_conll', in '{path}', but there are none."
        )
    for file in files:
        part: list[tuple[int, str]] = []
        for number, line in read_lines(file, "utf-8"):
            if line.startswith("#end"):
                blocks = groupby(part, key=lambda numbered: not numbered[1].strip())
                if sentences := [_parse(file, rows) for no, rows in blocks if not no]:
                    yield sentences
                part = []
            elif not line.startswith("#"):
                part.append((number, line))


def _parse(path: Path, rows: Iterable[tuple[int, str]]) -> Sentence:
    sentence = Sentence([], [])
    label: str | None = None  # of the open entity
    for number, line in rows:
        columns = line.split()
        if len(columns) <= _NAME or not (found := _BRACKETS.fullmatch(columns[_NAME])):
            expected = f"'*', '(LABEL*', '(LABEL)' or '*)' in column {_NAME}"
            fail(path, number, f"expected {expected}, got {quote(line)}")
        opens = found["label"]
        label = opens or label
        sentence.words.append(columns[_WORD])
        sentence.tags.append(f"{'B' if opens else 'I'}-{label}" if label else "O")
        label = None if found["close"] else label
    return sentence
