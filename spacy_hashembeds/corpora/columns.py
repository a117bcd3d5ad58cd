"""Files with one token a line: read lazily, one document in memory at a time."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..checks import check_choice
from ..files import quote
from .joined import name_document
from .lines import QUOTED, check_encoding, fail, read_lines
from .numbering import (
    NO_WORD,
    are_numbers,
    name_sentences,
    number_sentences,
    number_words,
)

# -DOCSTART-, and what files have in its place: --DOCSTART--, -DOCSTART, lower case.
DOCSTART = re.compile(r"(?<![\w-])-+DOCSTART(?!\w)", re.IGNORECASE)

# B, I, O; L and U end and stand alone in BILUO, E and S do so in BIOES.
_TAG = re.compile(r"O|[BILUES]-.+")

# Not what Python calls white space: a no-break space may be part of a word.
_BLANKS = " \t"
_ANY_BLANKS = "blanks"
_INVISIBLE = f"{_BLANKS}\ufeff"

# Lines that tell what separates columns, and sentences that tell what these hold.
_HEAD, _ENOUGH_SENTENCES = 100, 3

#: The most tokens of a sentence: with more, nothing tells sentences apart.
MAX_SENTENCE = 10_000

#: A column's place, from 0 or, if negative, from the end; or its name in the first row.
Column = int | str


class Sentence(NamedTuple):
    """The words of a sentence, and the entity tag of each."""

    words: list[str]
    tags: list[str]
    #: The name of its document: file and number, from 1. Empty where no line marks one.
    document: str = ""


Document = list[Sentence]


class _Row(NamedTuple):
    line: int
    document: int
    columns: list[str]
    word: str
    tag: str


#: The rows of a sentence.
_Block = list[_Row]


class _Table(NamedTuple):
    """Layout of a file, as the settings and its first lines say."""

    #: What separates columns, in words, and what takes a line apart there.
    separator: str
    split: Callable[[str], list[str]]
    word: int
    tag: int
    sentence: int | None
    #: How many columns the first row has, and why others should not have another
    #: number of them, if so, with the remedy.
    width: int
    uneven: str
    #: The line of the first row, and whether that names the columns.
    first: int
    has_names: bool
    #: Whether column 0 numbers words, as in CoNLL-U.
    numbers_words: bool


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
        if self.separator == "":
            raise ValueError(
                "'separator' should be at least one character, but is empty. Leave it "
                "out to split at tabs, or where there are none, at spaces."
            )
        if self.quotes and not re.fullmatch('[^"\r\n]', self.separator or ""):
            raise ValueError(
                "'separator' should be one character, and no quotation mark or end of "
                f"a line, where columns have 'quotes', but is {self.separator!r}. Give "
                r"it, such as ',' or '\t'."
            )
        if self.word == self.tag:
            raise ValueError(
                f"'word' and 'tag' should be two columns, but both are {self.word!r}."
            )
        check_choice(("sentence", "document"), group=self.group)
        check_encoding(self.encoding)

    @property
    def has_quotes(self) -> bool:
        """Tell whether quotation marks may stand around columns, as in CSV."""
        return self.separator in (",", ";") if self.quotes is None else self.quotes


def read_documents(path: Path, layout: ColumnFormat) -> Iterator[Document]:
    """Read the documents that hold at least one token, keeping no more than one."""
    blocks = _read_blocks(path, layout)
    if layout.group == "sentence":
        yield from ([_make_sentence(block, path)] for block in blocks)
    else:
        for _, members in groupby(blocks, key=lambda block: block[0].document):
            yield [_make_sentence(block, path) for block in members]


def _make_sentence(block: _Block, path: Path) -> Sentence:
    words, tags = [row.word for row in block], [row.tag for row in block]
    number = block[0].document
    return Sentence(words, tags, f"{path.name}:{number}" if number else "")


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


def _to_bio(before: str, tag: str) -> str:
    """Give the BIO tag of what stands after another. B, U and S begin an entity, L, E,
    U and S end one; I, L and E go on with an open one, which Doc ends at other labels.
    """
    if tag == "O":
        return tag
    begins = tag[0] in "BUS" or before[0] not in "BI"
    return ("B" if begins else "I") + tag[1:]


def _read_blocks(path: Path, layout: ColumnFormat) -> Iterator[_Block]:
    """Read the sentences of a file. Refuses one whose first three, or all, hold no
    words, or several sentences.
    """
    lines = read_lines(path, layout.encoding)
    head = list(islice(lines, _HEAD))
    table = _look_at(path, layout, head)
    rows = _read_rows(path, layout, table, chain(head, lines))
    first: list[_Block] = []
    for _, members in groupby(rows, key=bool):
        block = [row for row in islice(members, MAX_SENTENCE + 1) if row is not None]
        if len(block) > 1 and len(first) < _ENOUGH_SENTENCES:
            first.append(block)
            if len(first) == _ENOUGH_SENTENCES or len(block) > MAX_SENTENCE:
                _check_columns(path, layout, table, first)
        if len(block) > MAX_SENTENCE:
            fail(
                path,
                block[0].line,
                f"a sentence of more than {MAX_SENTENCE:,} tokens begins here. Put a "
                "blank line after each sentence; or, where a column numbers them, say "
                "which: --sentence-column, or sentence_column in a config",
            )
        if block:
            yield block
    if 0 < len(first) < _ENOUGH_SENTENCES:
        _check_columns(path, layout, table, first)


def _read_rows(
    path: Path, layout: ColumnFormat, table: _Table, lines: Iterable[tuple[int, str]]
) -> Iterator[_Row | None]:
    """Read the tokens of a file, and None between sentences."""
    rows = _parse_lines(path, layout, table, lines)
    if layout.quotes is None and not layout.has_quotes:
        rows = _refuse_quoted(path, rows)
    if table.sentence is not None:
        rows = _cut_sentences(path, table.sentence, rows)
    return rows


def _parse_lines(
    path: Path, layout: ColumnFormat, table: _Table, lines: Iterable[tuple[int, str]]
) -> Iterator[_Row | None]:
    """Parse lines into tokens, and what is blank or begins a document into None."""
    document, is_within = 0, False
    for line, text in lines:
        starts_document = DOCSTART.search(text) is not None
        try:
            columns = [] if starts_document else table.split(text)
            if not "".join(columns).strip(_INVISIBLE):
                document += starts_document
                is_within = False
                yield None
                continue
            if line == table.first and table.has_names:
                continue
            if not is_within and _is_comment(text, columns, table.tag):
                continue
            if table.numbers_words and NO_WORD.fullmatch(columns[0]):
                continue
            row = _parse_row(line, columns, layout, table, document)
        except ValueError as err:
            fail(path, line, err)
        is_within = True
        yield row


def _refuse_quoted(path: Path, rows: Iterator[_Row | None]) -> Iterator[_Row | None]:
    """Refuse, at the end, a file whose every word with quotation marks has them as CSV
    does, doubled within in one at least.
    """
    doubled = None
    for row in rows:
        yield row
        if row is None or '"' not in row.word:
            continue
        if not QUOTED.fullmatch(row.word):
            yield from rows
            return
        if doubled is None and '"' in row.word[1:-1]:
            doubled = row
    if doubled is not None:
        fail(
            path,
            doubled.line,
            "quotation marks stand around words, and doubled within, as in CSV: "
            f"{quote(doubled.word)}. To take them off, say --quotes and --separator, "
            "or quotes and separator in a config. " + _UNQUOTED,
        )


def _cut_sentences(
    path: Path, column: int, rows: Iterator[_Row | None]
) -> Iterator[_Row | None]:
    """Put None between the sentences that a column numbers or names."""
    head = list(islice(rows, _HEAD))
    blocks = [
        [row.columns[column] for row in members if row is not None]
        for is_block, members in groupby(head, key=bool)
        if is_block
    ]
    if not name_sentences(blocks):
        cells = list(dict.fromkeys(chain(*blocks)))[:4]
        fail(
            path,
            next(row.line for row in head if row),
            f"column {column} should hold a number or name for each sentence, in each "
            "of its rows or in the first alone, but has values that come back: "
            f"{quote(cells)}. Give another, or put blank lines between sentences",
        )
    name = ""
    for row in chain(head, rows):
        cell = "" if row is None else row.columns[column]
        if cell not in ("", name):
            name = cell
            yield None
        yield row


def _look_at(
    path: Path, layout: ColumnFormat, head: Iterable[tuple[int, str]]
) -> _Table:
    rows = [
        (line, text)
        for line, text in head
        if text.strip(_INVISIBLE) and not re.match(r"#\s", text)
        if not DOCSTART.search(text)
    ]
    separator, split = _choose_split(layout, [text for _, text in rows])
    first, text = rows[0] if rows else (1, "")
    names = [layout.word, layout.tag]
    names += [] if layout.sentence in (None, "") else [layout.sentence]
    try:
        columns = split(text)
        word, tag, *rest = (_find_place(name, columns) for name in names)
    except ValueError as err:
        fail(path, first, err)
    sentence = rest[0] if rest else None
    uneven = ""
    if layout.has_quotes:
        uneven = f"Quotation marks hold columns together. {_UNQUOTED}"
    elif separator == _ANY_BLANKS:
        # With more columns than two, some rows may well lack one in the middle.
        uneven = _SPACES if len(columns) == 2 else ""
    elif min(word, tag, sentence or 0) < 0:
        uneven = "Where rows differ, count columns from 0, not from the last"
    width = len(columns)
    has_names = any(isinstance(name, str) for name in names)
    numbers_words = (
        not layout.has_quotes
        and word % width != 0
        and number_words([(n, split(text)[0]) for n, text in rows[has_names:]])
    )
    return _Table(
        separator,
        split,
        word,
        tag,
        sentence,
        width,
        uneven,
        first,
        has_names,
        numbers_words,
    )


def _choose_split(
    layout: ColumnFormat, head: Sequence[str]
) -> tuple[str, Callable[[str], list[str]]]:
    separator = layout.separator
    if separator is not None:
        split = _split_quoted if layout.has_quotes else str.split
        return repr(separator), lambda text: split(text, separator)
    if head and all("\t" in text.strip(_BLANKS) for text in head):
        # What ends all lines separates nothing; an empty last cell does not end all.
        ends = min(text[len(text.rstrip(_BLANKS)) :].count("\t") for text in head)
        split = partial(_split_at_tabs, ends=ends)
        return "tabs, as in the first lines,", split
    return _ANY_BLANKS, lambda text: re.split(f"[{_BLANKS}]+", text.strip(_BLANKS))


def _split_at_tabs(text: str, ends: int) -> list[str]:
    columns = [column.strip(_BLANKS) for column in text.split("\t")]
    width = len(columns) - ends
    return columns if any(columns[width:]) else columns[:width]


def _split_quoted(text: str, separator: str) -> list[str]:
    # Line by line, since no word goes on in the next one.
    try:
        return next(csv.reader([text], delimiter=separator, strict=True), [])
    except csv.Error as err:
        raise ValueError(
            "expected quotation marks around whole columns, and doubled within, got "
            f"{quote(text)} ({err}). {_UNQUOTED}"
        ) from None


def _find_place(name: Column, names: Sequence[str]) -> int:
    if not isinstance(name, str):
        return name
    if names.count(name) != 1:
        raise ValueError(
            f"expected the name {quote(name)} of a column, once, got "
            f"{quote(list(names))}. Where this line has no names, give numbers, from "
            "0; where something else separates them, another --separator"
        )
    return names.index(name)


_UNQUOTED = "Where they are words, say --no-quotes, or quotes = false in a config"
_SPACES = (
    "If words hold spaces, put tabs in all lines between the columns; or say what "
    "separates these: --separator, or separator in a config"
)
_NAMES = (
    ". Where this line names columns, give names to --word-column and --tag-column, or "
    "another --separator"
)


def _check_columns(
    path: Path, layout: ColumnFormat, table: _Table, blocks: Sequence[_Block]
) -> None:
    """Refuse what is read without an error, but wrongly."""
    refuse = partial(fail, path, blocks[0][0].line)
    columns = blocks[0][0].columns
    words = [[row.word for row in block] for block in blocks]
    # Of two columns, neither can be another that holds the words.
    if len(columns) > 2 and all(map(are_numbers, words)):
        shown = [f"{i} ({quote(text, 20)})" for i, text in enumerate(columns[:20])]
        tags = [str(i) for i, text in enumerate(columns) if _is_tag(text)]
        refuse(
            f"column {table.word} should hold the words, but numbers them. The columns "
            f"are {', '.join(shown)}; tags may stand in {' or '.join(tags[:4])}. Say "
            "which has the words and which the tags: --word-column and --tag-column, "
            "or word_column and tag_column in a config"
        )
    if layout.separator is None and all(" " in word for word in chain(*words)):
        refuse(
            f"each line has tabs, and each word a space, as {quote(words[0][0])}. If "
            r"both separate, make tabs of all; if tabs alone, say so: --separator "
            r"'\t', or separator in a config"
        )
    prefix = re.match("[a-z-]{2,12}:", words[0][0])
    if prefix and all(word.startswith(prefix[0]) for word in chain(*words)):
        refuse(
            f"each word begins with {quote(prefix[0])}, as in files of WikiANN, which "
            "is no part of it. Take that off"
        )
    number = _find_numbers(blocks, table) if layout.sentence is None else None
    if number is not None:
        refuse(
            f"column {number} numbers sentences, but several would be read as one. Say "
            f"so: --sentence-column {number}, or sentence_column in a config. If it "
            "numbers lines or pages, say that none does: ''"
        )


def _find_numbers(blocks: Sequence[_Block], table: _Table) -> int | None:
    """Find a column that numbers sentences, several in a block."""
    width = min(len(row.columns) for block in blocks for row in block)
    for place in range(width):
        columns = [[row.columns[place] for row in block] for block in blocks]
        if place != table.word % width and number_sentences(columns):
            return place
    return None


def _parse_row(
    line: int, columns: list[str], layout: ColumnFormat, table: _Table, document: int
) -> _Row:
    if layout.group == "document" and not document:
        raise ValueError(
            "expected a -DOCSTART- line before the first token, as documents are to "
            "be told apart by such lines. Where the file has none, use "
            "group = 'sentence'"
        )
    places = (table.word, table.tag, table.sentence or 0)
    width = max(2, *(place + 1 if place >= 0 else -place for place in places))
    if len(columns) < width:
        raise ValueError(
            f"expected at least {width} columns with {table.separator} between them, "
            f"got {len(columns)}: {quote(columns)}"
        )
    if table.uneven and len(columns) != table.width:
        raise ValueError(
            f"expected {table.width} columns, as in the first row, got {len(columns)}: "
            f"{quote(columns)}. {table.uneven}"
        )
    word, tag = columns[table.word], columns[table.tag].strip(_BLANKS)
    if not word:
        raise ValueError(
            f"expected a word in column {table.word}, got {quote(columns)}"
        )
    if not _TAG.fullmatch(tag):
        raise ValueError(
            "expected a tag of the BIO, BILUO or BIOES scheme, such as 'O' or 'B-PER', "
            f"in column {table.tag}, got {quote(tag)}{_NAMES * (line == table.first)}"
        )
    return _Row(line, document, columns, word, tag)


def _is_tag(text: str) -> bool:
    return _TAG.fullmatch(text.strip(_BLANKS)) is not None


def _is_comment(text: str, columns: list[str], tag: int) -> bool:
    # "#" may well be a token. What tells a comment is "# key = value", as in CoNLL-U,
    # or that there is no tag in its column.
    if not re.match(r"#\s", text):
        return False
    has_tag = -len(columns) <= tag < len(columns) and _is_tag(columns[tag])
    return text.split()[2:3] == ["="] or not has_tag
