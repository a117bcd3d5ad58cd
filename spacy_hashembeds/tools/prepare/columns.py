"""Files with one token a line: read lazily, one document in memory at a time."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...arguments import check_choice
from ...files import quote
from ...training.joined import name_document
from ...training.lines import MAX_TEXT, fail, read_lines
from .rows import QUOTED, SAY_QUOTES, check_encoding, check_separator

# -DOCSTART-, and what files have in its place: --DOCSTART--, -DOCSTART, lower case.
_DOCSTART = re.compile(r"(?<![\w-])-+DOCSTART(?!\w)", re.IGNORECASE)
# B, I, O; L and U end and stand alone in BILUO, E and S do so in BIOES and in BMES,
# where M is I.
_TAG = re.compile(r"O|[BIMLUES]-.+")
# Of a word in CoNLL-U; "3-4" is what 3 and 4 are written as, "4.1" a word left out.
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")
# Not what Python calls white space: a no-break space may be part of a word.
_BLANKS = " \t"
#: The most tokens of a sentence: with more, nothing tells sentences apart.
MAX_SENTENCE = 10_000

_SAY_COLUMNS = (
    "Say which column has words, which tags, and what separates them: --word-column, "
    "--tag-column (word_column, tag_column), --separator. JSON is for 'prepare spans' "
    "or 'prepare texts', CoNLL-U with NE=B-PER for 'spacy convert'"
)

#: A column's place, from 0 or, if negative, from the end; or its name in the first row.
Column = int | str


class Sentence(NamedTuple):
    """The words of a sentence, the entity tag of each, and the name of its document:
    file and number, from 1, or empty where no line marks one.
    """

    words: list[str]
    tags: list[str]
    document: str = ""


Document = list[Sentence]
#: The rows of a sentence: line and columns.
_Block = list[tuple[int, list[str]]]


@dataclass(frozen=True)
class ColumnFormat:
    """The settings of `spacy-hashembeds.IOBCorpus.v1`, checked."""

    separator: str | None = None
    word: Column = 0
    tag: Column = -1
    encoding: str = "utf-8"
    group: str = "sentence"
    sentence: Column | None = None
    quotes: bool | None = None

    def __post_init__(self) -> None:
        if self.quotes or self.separator == "":
            check_separator(self.separator or "")
        if self.word == self.tag:
            raise ValueError(f"'word' and 'tag' should differ, but are {self.word!r}.")
        check_choice(("sentence", "document"), group=self.group)
        check_encoding(self.encoding)

    @property
    def has_quotes(self) -> bool:
        """True if quotation marks may stand around columns, as in CSV."""
        return self.separator in (",", ";") if self.quotes is None else self.quotes


def read_documents(path: Path, layout: ColumnFormat) -> Iterator[Document]:
    """Read the documents that hold at least one token, keeping no more than one."""
    sentences = _read_sentences(path, layout)
    if layout.group == "sentence":
        yield from ([sentence] for sentence in sentences)
    else:
        yield from (list(each) for _, each in groupby(sentences, lambda s: s.document))


def make_doc(vocab: Vocab, document: Document) -> Doc:
    """Make the annotated `Doc` of a document, as `spacy convert` does: with unknown
    spaces, so that training keeps the tokens. Tags mean what they do to conlleval.
    A single sentence keeps the name of its document.
    """
    words = [word for sentence in document for word in sentence.words]
    starts: list[bool | int | None] = []
    tags: list[str] = []
    for sentence in document:
        starts += [i == 0 for i in range(len(sentence.tags))]
        tags += map(_to_bio, ["O", *sentence.tags], sentence.tags)
    doc = Doc(vocab, words=words, sent_starts=starts, ents=tags)
    if len(document) == 1 and document[0].document:
        name_document(doc, document[0].document)
    return doc


def find_types(document: Document) -> list[str]:
    """Find the types of a document's entities."""
    tags = {tag for sentence in document for tag in sentence.tags}
    return sorted({tag.partition("-")[2] for tag in tags} - {""})


def _to_bio(before: str, tag: str) -> str:
    """Return the BIO tag of what stands after another. I, M, L and E go on with an open
    entity, which Doc ends at other labels; all others begin one.
    """
    begins = tag[0] in "BUS" or before[0] not in "BIM"
    return tag if tag == "O" else ("B" if begins else "I") + tag[1:]


class _Table:
    """The columns of a file, as the settings and its first row say."""

    def __init__(self, path: Path, layout: ColumnFormat) -> None:
        self.path, self.layout = path, layout
        self.width = 0  # until there is a first row
        self.has_tabs = False
        self.word = self.tag = self.sentence = 0
        #: The name of the sentence before, and that of this one.
        self.names = "", ""

    def fail(self, line: int, message: str, remedy: str = _SAY_COLUMNS) -> NoReturn:
        fail(self.path, line, f"{message}. {remedy}")

    def split(self, line: int, text: str) -> list[str]:
        separator = self.layout.separator
        if len(text) > MAX_TEXT:
            fail(self.path, line, f"expected a token, got {len(text):,} characters")
        if separator is None:
            text = text.rstrip(_BLANKS)
            if not self.width:
                self.has_tabs = "\t" in text.lstrip(_BLANKS)
            if self.has_tabs:
                return [column.strip(_BLANKS) for column in text.split("\t")]
            return re.split(f"[{_BLANKS}]+", text.lstrip(_BLANKS))
        if not self.layout.has_quotes:
            return text.split(separator)
        try:  # line by line, since no word goes on in the next one
            return next(csv.reader([text], delimiter=separator, strict=True))
        except csv.Error as err:
            self.fail(line, f"expected CSV, got {quote(text)} ({err})", SAY_QUOTES)

    def set_up(self, line: int, columns: list[str]) -> bool:
        """Find the columns by the first row. Returns True if it names them."""
        layout, self.width = self.layout, len(columns)
        named = [layout.word, layout.tag, layout.sentence or 0]
        places = [self._find(line, column, columns) for column in named]
        self.word, self.tag, self.sentence = places
        if self.word == self.tag:
            self.fail(line, f"words and tags are one column of {quote(columns)}")
        return any(isinstance(column, str) for column in named)

    def _find(self, line: int, column: Column, columns: list[str]) -> int:
        if isinstance(column, int) and -self.width <= column < self.width:
            return column % self.width
        if not isinstance(column, str) or columns.count(column) != 1:
            self.fail(line, f"expected column {column!r} in {quote(columns)}")
        return columns.index(column)

    def is_comment(self, text: str, columns: list[str]) -> bool:
        # "#" may well be a token. What tells a comment is "# key = value", as in
        # CoNLL-U, or that there is no tag in its column.
        if not re.match(r"#\s", text):
            return False
        place, n = self.tag if self.width else self.layout.tag, len(columns)
        is_there = isinstance(place, int) and -n <= place < n
        tag = columns[int(place)].strip(_BLANKS) if is_there else ""
        return text.split()[2:3] == ["="] or not _TAG.fullmatch(tag)

    def begins_sentence(self, line: int, columns: list[str]) -> bool:
        """True if the column of sentences has another name here."""
        before, name = self.names
        cell = "".join(columns[self.sentence : self.sentence + 1])
        if self.layout.sentence in (None, "") or cell in ("", name):
            return False
        if cell == before:
            message = f"{cell!r} comes back, which should number or name one sentence"
            self.fail(line, message, "Put -DOCSTART- where numbers begin anew")
        self.names = name, cell
        return True

    def parse(self, line: int, columns: list[str]) -> tuple[str, str]:
        """Get the word and the tag of a row."""
        if len(columns) != self.width:
            message = f"expected {self.width} columns, as in the first row, got "
            remedy = f"If words hold spaces, separate columns by tabs. {SAY_QUOTES}"
            self.fail(line, f"{message}{len(columns)}: {quote(columns)}", remedy)
        word, tag = columns[self.word], columns[self.tag].strip(_BLANKS)
        if not word:
            fail(self.path, line, f"expected a word in column {self.word}")
        if not _TAG.fullmatch(tag):
            message = f"expected a tag such as B-PER in column {self.tag}, got "
            self.fail(line, f"{message}{quote(tag)}")
        is_sure = self.layout.quotes is not None or self.layout.has_quotes
        if not is_sure and QUOTED.fullmatch(word) and '"' in word[1:-1]:
            message = f"{quote(word)} has quotation marks as in CSV"
            self.fail(line, message, f"{SAY_QUOTES} and --separator")
        return word, tag

    def drop_ranges(self, block: _Block) -> _Block:
        """Drop what is no word, where column 0 numbers words as in CoNLL-U."""
        words = [row for row in block if row[1][0].isdecimal()]
        numbers = [columns[0] for _, columns in words]
        start = int(numbers[:1] == ["1"])
        is_numbered = numbers == [str(start + i) for i in range(len(numbers))]
        are_ranges = all(_NUMBER.fullmatch(columns[0]) for _, columns in block)
        is_sure = self.word > 0 and len(words) > 1 and is_numbered
        return words if is_sure and are_ranges else block

    def check(self, blocks: Sequence[_Block]) -> None:
        """Refuse, by the first sentences, what is read wrongly without an error."""
        blocks = [block for block in blocks if len(block) > 1]
        if not blocks:
            return
        rows = [columns for block in blocks for _, columns in block]
        line, words = blocks[0][0][0], [columns[self.word] for columns in rows]
        are_numbers = all(map(_NUMBER.fullmatch, words))
        if self.layout.word == 0 and self.width > 2 and are_numbers:
            self.fail(line, f"column {self.word} of {quote(rows[0])} numbers words")
        if self.layout.separator is None and all(" " in word for word in words):
            message = f"each word has a space, as {quote(words[0])}"
            self.fail(line, message, r"If tabs alone separate, say --separator '\t'")
        prefix = re.match("[a-z-]{2,12}:", words[0])
        if prefix and all(word.startswith(prefix[0]) for word in words):
            message = f"each word begins with {quote(prefix[0])}, as those of WikiANN"
            self.fail(line, message, "Take that off")
        for place in range(self.width if self.layout.sentence is None else 0):
            cells = [[columns[place] for _, columns in block] for block in blocks]
            if place != self.word and any(map(_number_sentences, cells)):
                message = f"column {place} numbers sentences, but several would be one"
                remedy = f"Say --sentence-column {place}, or '' if it numbers others"
                self.fail(line, message, f"{remedy} (sentence_column)")


def _number_sentences(cells: Sequence[str]) -> bool:
    """True for 1 1 2 3 3, "Sentence: 1" "" "Sentence: 2" "", and the like."""
    found = [re.fullmatch(r"\D*([0-9]{1,9})(\.0)?", cell) for cell in cells if cell]
    numbers = [number for number, _ in groupby(int(x[1]) if x else 0 for x in found)]
    if not all(found) or not cells[0] or set(numbers) == {0, 1}:  # a flag of tokens
        return False
    steps = {b - a for a, b in pairwise(numbers) if b != numbers[0]}  # or begin anew
    return len(numbers) < len(cells) and steps == {1}


def _read_sentences(path: Path, layout: ColumnFormat) -> Iterator[Sentence]:
    """Read the sentences of a file, of which the first three tell what columns hold."""
    table = _Table(path, layout)
    parsed = (
        (document, block, [table.parse(*row) for row in block])
        for document, block in _read_blocks(table)
    )
    first = [*islice(parsed, 3)]
    table.check([block for _, block, _ in first])
    for document, block, pairs in chain(first, parsed):
        if len(block) > MAX_SENTENCE:
            message = f"a sentence of more than {MAX_SENTENCE:,} tokens begins here"
            remedy = "Put blank lines between sentences, or say --sentence-column"
            table.fail(block[0][0], message, remedy)
        words, tags = map(list, zip(*pairs, strict=True))
        yield Sentence(words, tags, document)


def _read_blocks(table: _Table) -> Iterator[tuple[str, _Block]]:
    """Read the rows of each sentence, with the name of its document."""
    layout, path = table.layout, table.path
    blanks = f"{_BLANKS}\ufeff{layout.separator or ''}"
    document, n_documents = "", 0
    block: _Block = []
    for line, text in chain(read_lines(path, layout.encoding), [(0, "")]):
        is_start = _DOCSTART.search(text) is not None
        columns = [] if is_start or not text.strip(blanks) else table.split(line, text)
        if columns and not block and table.is_comment(text, columns):
            continue
        if columns and not table.width and table.set_up(line, columns):
            continue
        is_full = not columns or len(block) > MAX_SENTENCE
        if is_full or table.begins_sentence(line, columns):
            yield from [(document, table.drop_ranges(block))] if block else []
            block = []
        if columns:
            block.append((line, columns))
            if layout.group == "document" and not document:
                message = "expected a -DOCSTART- line before the first token"
                table.fail(line, message, "Where there is none, say group 'sentence'")
        elif is_start:
            n_documents += 1
            document, table.names = f"{path.name}:{n_documents}", ("", "")
