"""Read files with one token a line, one document at a time."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, NoReturn

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...arguments import check_choice
from ...files import quote
from ...training.features import store_values
from ...training.joined import set_document
from ...training.lines import fail, read_lines
from .rows import QUOTED, quote_all

# Variants in published files: -DOCSTART-, --DOCSTART--, -DOCSTART, lower case.
_DOCSTART = re.compile(r"(?<![\w-])-+DOCSTART(?!\w)", re.IGNORECASE)
# B, I, O; L (last) and U (unit) in BILUO; E (end) and S (single) in BIOES and BMES; M
# (middle) in BMES.
_TAG = re.compile(r"O|[BIMLUES]-.+")
# Word numbers of CoNLL-U: "3-4" is a multiword token, "4.1" an empty node.
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")
# Not the no-break space, which may be part of a word.
_BLANKS = " \t"
#: Maximum number of tokens of a sentence. More: sentence boundaries are missing.
MAX_SENTENCE = 10_000

#: A column's index, from the end if negative, or its name in the first row.
ColumnId = int | str


class Sentence(NamedTuple):
    """A sentence. `document`: file and number, or "" without -DOCSTART- lines."""

    words: list[str]
    tags: list[str]
    document: str = ""
    features: Mapping[str, list[str]] = {}


Document = list[Sentence]
#: A row's line number and columns.
_Row = tuple[int, list[str]]


@dataclass(frozen=True)
class ColumnFormat:
    """The settings of `spacy-hashembeds.IOBCorpus.v1`."""

    separator: str | None = None
    word: ColumnId = 0
    tag: ColumnId = -1
    encoding: str = "utf-8"
    group: str = "sentence"
    sentence: ColumnId | None = None
    quotes: bool | None = None
    features: Mapping[str, ColumnId] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.separator == "":
            raise ValueError("'separator' should not be empty. Omit it for spaces.")
        if self.quotes and not self.separator:
            raise ValueError("'quotes' needs a 'separator', such as a comma.")
        check_choice(("sentence", "document"), group=self.group)

    @property
    def has_quotes(self) -> bool:
        """True if fields may be quoted, as in CSV."""
        return self.separator in (",", ";") if self.quotes is None else self.quotes


def read_documents(path: Path, layout: ColumnFormat) -> Iterator[Document]:
    """Yield the non-empty documents, with one in memory at a time."""
    table = _ColumnFile(path, layout)
    sentences: Iterator[Sentence] = (
        table.parse(document, [row for _, row in islice(rows, MAX_SENTENCE + 1)])
        for (document, _), rows in groupby(table.read(), itemgetter(0))
    )
    first = [*islice(sentences, 3)]
    if words := [word for x in first if len(x.words) > 1 for word in x.words]:
        table.check(words)
    sentences = chain(first, sentences)
    if layout.group == "sentence":
        yield from ([sentence] for sentence in sentences)
    else:
        yield from (list(each) for _, each in groupby(sentences, lambda s: s.document))


def make_doc(vocab: Vocab, document: Document) -> Doc:
    """Make the annotated `Doc` of a document, as `spacy convert` does. Spaces are
    unknown, so training keeps the tokens. Tags are interpreted as in conlleval. A Doc
    of one sentence stores the name of its document.
    """
    words = [word for sentence in document for word in sentence.words]
    starts: list[bool | int | None] = []
    tags: list[str] = []
    for sentence in document:
        starts += [i == 0 for i in range(len(sentence.tags))]
        tags += map(_to_bio, ["O", *sentence.tags], sentence.tags)
    doc = Doc(vocab, words=words, sent_starts=starts, ents=tags)
    for name in document[0].features:
        values = (sentence.features[name] for sentence in document)
        store_values(doc, name, chain.from_iterable(values))
    if len(document) == 1 and document[0].document:
        set_document(doc, document[0].document)
    return doc


def find_types(document: Document) -> list[str]:
    """Find the types of a document's entities."""
    return sorted({tag[2:] for x in document for tag in x.tags if tag != "O"})


def _to_bio(before: str, tag: str) -> str:
    """Convert a tag to BIO. I, M, L and E continue an open entity; others begin one."""
    begins = tag[0] in "BUS" or before[0] not in "BIM"
    return tag if tag == "O" else ("B" if begins else "I") + tag[1:]


def _find_column(columns: Sequence[str], column: ColumnId) -> list[int]:
    """Find the index of a column, if the first row has it once."""
    if isinstance(column, str):
        return [columns.index(column)] if columns.count(column) == 1 else []
    width = len(columns)
    return [column % width] if -width <= column < width else []


class _ColumnFile:
    """The rows of a file."""

    def __init__(self, path: Path, layout: ColumnFormat) -> None:
        self.path, self.layout = path, layout
        self.blanks = f"{_BLANKS}\ufeff{layout.separator or ''}"
        self.width = 0  # until the first row is read
        self.has_tabs = False
        self.word = self.tag = self.sentence = 0
        self.features: dict[str, int] = {}
        self.name = ""  # of the current sentence

    def fail(self, row: _Row, message: str, option: str) -> NoReturn:
        """Raise an error about a row that names the option to read it."""
        line, columns = row
        fail(self.path, line, f"{message}, got {quote(columns)}. Use --{option}")

    def read(self) -> Iterator[tuple[tuple[int, int], _Row]]:
        """Yield rows of tokens with their document and sentence numbers."""
        document = sentence = 0
        begins = True
        for line, text in read_lines(self.path, self.layout.encoding):
            is_start = _DOCSTART.search(text) is not None
            row = line, [] if is_start else self.split(line, text)
            if not row[1]:
                begins = True
                sentence += 1
            elif not (begins and (self.is_comment(row) or self.is_header(row))):
                begins = False
                sentence += self.begins_sentence(row)
                yield (document, sentence), row
            if is_start:
                document += 1
                self.name = ""

    def split(self, line: int, text: str) -> list[str]:
        """Split a line into columns. A blank line has none."""
        separator = self.layout.separator
        if not text.strip(self.blanks):
            return []
        if separator is None:
            text = text.rstrip(_BLANKS)
            if not self.width:
                self.has_tabs = "\t" in text.lstrip(_BLANKS)
            if self.has_tabs:
                return [column.strip(_BLANKS) for column in text.split("\t")]
            return re.split(f"[{_BLANKS}]+", text.lstrip(_BLANKS))
        if not self.layout.has_quotes:
            return text.split(separator)
        try:  # a word never spans lines
            return next(csv.reader([text], delimiter=separator, strict=True))
        except csv.Error as err:
            self.fail((line, [text]), f"expected CSV ({err})", "no-quotes")

    def is_comment(self, row: _Row) -> bool:
        """True for "# key = value", and for "# …" without a tag: # may be a token."""
        start = " ".join(row[1]).split(maxsplit=3)
        has_tag = any(_TAG.fullmatch(column.strip()) for column in row[1])
        return start[:1] == ["#"] and (start[2:3] == ["="] or not has_tag)

    def is_header(self, row: _Row) -> bool:
        """Find the columns by the first row. Return True if it is a header."""
        if self.width:
            return False
        self.first, columns, layout = row, row[1], self.layout
        self.width = len(columns)
        sentence = 0 if layout.sentence is None else layout.sentence
        named = sentence, layout.word, layout.tag, *layout.features.values()
        found = [i for column in named for i in _find_column(columns, column)]
        if missing := [x for x in named if not _find_column(columns, x)]:
            options = "word-column, --tag-column, --feature or --separator"
            self.fail(row, f"expected a column {quote_all(missing)}", options)
        self.sentence, self.word, self.tag, *features = found
        self.features = dict(zip(layout.features, features, strict=True))
        return any(isinstance(column, str) for column in named)

    def begins_sentence(self, row: _Row) -> bool:
        """True if this row has a new sentence ID."""
        if self.layout.sentence is None:
            return False
        cell = "".join(row[1][self.sentence : self.sentence + 1])
        if cell in ("", self.name):
            return False
        self.name = cell
        return True

    def parse(self, number: int, rows: list[_Row]) -> Sentence:
        """Parse a sentence of document `number`, or 0, without CoNLL-U's non-words."""
        if len(rows) > MAX_SENTENCE:
            message = f"a sentence of more than {MAX_SENTENCE:,} tokens"
            self.fail(rows[0], message, "sentence-column")
        if self.layout.group == "document" and not number:
            self.fail(rows[0], "expected a -DOCSTART- line before", "group sentence")
        if self.word > 0 and all(_NUMBER.fullmatch(columns[0]) for _, columns in rows):
            counted = [row for row in rows if row[1][0].isdecimal()]
            counts = ([str(i + start) for i in range(len(counted))] for start in (0, 1))
            if len(counted) > 1 and [columns[0] for _, columns in counted] in counts:
                rows = counted
        words, tags = map(list, zip(*map(self.parse_row, rows), strict=True))
        document = f"{self.path.name}:{number}" if number else ""
        places = self.features.items()
        features = {x: [row[i].strip(_BLANKS) for _, row in rows] for x, i in places}
        return Sentence(words, tags, document, features)

    def parse_row(self, row: _Row) -> tuple[str, str]:
        """Return a row's word and tag."""
        if len(row[1]) != self.width:
            message = f"expected {self.width} columns, as before"
            self.fail(row, message, "separator or --no-quotes")
        word, tag = row[1][self.word], row[1][self.tag].strip(_BLANKS)
        if not word or not _TAG.fullmatch(tag):
            message = f"expected a word in column {self.word} and a tag in {self.tag}"
            options = "word-column, --tag-column or --separator"
            self.fail(row, f"{message}, such as B-PER", options)
        is_sure = self.layout.quotes is not None or self.layout.has_quotes
        if not is_sure and QUOTED.fullmatch(word) and '"' in word[1:-1]:
            self.fail(row, "quotation marks as in CSV", "quotes or --no-quotes")
        return word, tag

    def check(self, words: Sequence[str]) -> None:
        """Raise an error if the first words show that columns are misread."""
        are_numbers = all(map(_NUMBER.fullmatch, words))
        if self.layout.word == 0 and self.width > 2 and are_numbers:
            self.fail(self.first, "column 0 has word numbers", "word-column")
        if self.layout.separator is None and all(" " in word for word in words):
            option = r"separator '\t' if intended"
            self.fail(self.first, "all words contain a space", option)
        prefix = re.match("[a-z-]{2,12}:", words[0])
        if prefix and all(word.startswith(prefix[0]) for word in words):
            message = f"remove the prefix {quote(prefix[0])} of WikiANN"
            fail(self.path, self.first[0], message)
