"""Files with one token a line: read lazily, one document in memory at a time.

Nothing here knows about spaCy's objects: a document is a list of sentences, a
sentence a pair of equally long lists, words and tags.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, NoReturn

GROUPS = ("sentence", "document")

DOCSTART = "-DOCSTART-"

# B, I, O; L and U end and stand alone in BILUO, E and S do so in BIOES.
_TAG = re.compile(r"O|[BILUES]-.+")
_CONTINUES = frozenset("ILE")

# Not what Python calls white space: a no-break space may be part of a word.
_BLANKS = " \t"


class Sentence(NamedTuple):
    """One sentence.

    words (list[str]): The tokens.
    tags (list[str]): Their entity tags, as many as there are words.
    """

    words: list[str]
    tags: list[str]


Document = list[Sentence]


@dataclass(frozen=True, kw_only=True)
class ColumnFormat:
    r"""How a column file is laid out. Lines that hold nothing but white space
    stand between sentences, `-DOCSTART-` lines between documents.

    separator (str): What stands between columns, e.g. "\t" where a word may hold a
        space. None: any run of spaces and tabs.
    word (int): Column of the token, from 0; negative counts from the end.
    tag (int): Column of the entity tag.
    encoding (str): Encoding of the file, one that extends ASCII. A byte-order mark
        at the beginning is dropped.
    group (str): What becomes one document: each "sentence", or each "document".
    comments (bool): Whether lines before a sentence may be comments ("# …").
    RAISES (ValueError): An unknown encoding or group, an empty separator, or one
        column for both word and tag.
    """

    separator: str | None = None
    word: int = 0
    tag: int = -1
    encoding: str = "utf-8"
    group: str = "sentence"
    comments: bool = False

    def __post_init__(self) -> None:
        if self.separator == "":
            raise ValueError(
                "'separator' should be at least one character, but is empty. Leave it "
                "out to split at spaces and tabs."
            )
        if self.word == self.tag:
            raise ValueError(
                f"'word' and 'tag' should be two columns, but both are {self.word}."
            )
        if self.group not in GROUPS:
            raise ValueError(
                f"'group' should be one of {GROUPS}, but is {self.group!r}."
            )
        if not _extends_ascii(self.encoding):
            raise ValueError(
                "'encoding' should be one that Python knows and that extends ASCII, "
                f"such as 'utf-8' or 'latin-1', but is {self.encoding!r}."
            )

    @property
    def width(self) -> int:
        """RETURNS (int): The fewest columns in which word and tag are two of them."""
        columns = (self.word, self.tag)
        return max(2, *(col + 1 if col >= 0 else -col for col in columns))


def read_documents(path: Path, layout: ColumnFormat) -> Iterator[Document]:
    """Read a column file. Nothing is read before the first document is asked for,
    and no more than one document is kept.

    path (Path): The file.
    layout (ColumnFormat): How it is laid out.
    YIELDS (list[Sentence]): The documents that hold at least one token.
    RAISES (ValueError): A line that cannot be parsed, as `path:line: …`.
    """
    sentences = _read_sentences(path, layout)
    if layout.group == "sentence":
        yield from ([sentence] for _, sentence in sentences)
    else:
        for _, members in groupby(sentences, key=itemgetter(0)):
            yield [sentence for _, sentence in members]


def tags_to_spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """Find the entities in the tags of one sentence. B, U and S begin an entity; I, L
    and E continue one of the same label, else begin one. So IOB1, BIO, BILUO and BIOES
    are all read, and any sequence gives what `spacy.training.iob_to_biluo` makes of it.

    tags (list[str]): Tags, as `Sentence.tags` holds them.
    RETURNS (list[tuple[int, int, str]]): First token, token after the last, label.
    """
    spans: list[tuple[int, int, str]] = []
    for i, tag in enumerate(tags):
        if tag == "O":
            continue
        label = tag[2:]
        if spans and spans[-1][1:] == (i, label) and tag[0] in _CONTINUES:
            spans[-1] = (spans[-1][0], i + 1, label)
        else:
            spans.append((i, i + 1, label))
    return spans


def read_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Read the lines of a file, ended by LF or CRLF.

    path (Path): The file.
    encoding (str): Its encoding. A byte-order mark at the beginning is dropped.
    YIELDS (tuple[int, str]): The number of each line, from 1, and its text.
    RAISES (ValueError): Bytes that are not of this encoding, or a bare CR, as
        `path:line: …`.
    """
    # Bytes are split and then decoded, so that a wrong byte is found on its line.
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode(encoding)
            except UnicodeError as err:
                fail(path, number, f"not {encoding} text ({err})")
            if number == 1:
                line = line.removeprefix("\ufeff")
            line = line.rstrip("\r\n")
            if "\r" in line:
                fail(path, number, "lines end in a bare carriage return; expected LF")
            yield number, line


def fail(path: Path, number: int, message: str) -> NoReturn:
    """Refuse a line of a file.

    RAISES (ValueError): Always, as `path:line: …`.
    """
    raise ValueError(f"{path}:{number}: {message}.")


def _read_sentences(path: Path, layout: ColumnFormat) -> Iterator[tuple[int, Sentence]]:
    document = 0
    words: list[str] = []
    tags: list[str] = []
    for number, line in read_lines(path, layout.encoding):
        columns = _split(line, layout.separator)
        starts_document = columns[:1] == [DOCSTART]
        if starts_document or not line.strip(_BLANKS):
            if words:
                yield document, Sentence(words, tags)
                words, tags = [], []
            document += starts_document
        elif words or not (layout.comments and _is_comment(line, columns)):
            if layout.group == "document" and not document:
                fail(
                    path,
                    number,
                    f"expected a {DOCSTART} line before the first token, as documents "
                    "are to be told apart by such lines. Where the file has none, use "
                    "group = 'sentence'",
                )
            word, tag = _parse_row(path, number, columns, layout)
            words.append(word)
            tags.append(tag)
    if words:
        yield document, Sentence(words, tags)


def _split(line: str, separator: str | None) -> list[str]:
    if separator is not None:
        return line.split(separator)
    return re.split(f"[{_BLANKS}]+", line.strip(_BLANKS))


def _parse_row(
    path: Path, number: int, columns: list[str], layout: ColumnFormat
) -> tuple[str, str]:
    if len(columns) < layout.width:
        between = "blanks" if layout.separator is None else repr(layout.separator)
        fail(
            path,
            number,
            f"expected at least {layout.width} columns with {between} between them, "
            f"got {len(columns)}: {columns}",
        )
    word, tag = columns[layout.word], columns[layout.tag].strip(_BLANKS)
    if not word:
        fail(path, number, f"expected a word in column {layout.word}, got {columns}")
    if not _TAG.fullmatch(tag):
        fail(
            path,
            number,
            "expected a tag of the BIO, BILUO or BIOES scheme, such as 'O' or 'B-PER', "
            f"in column {layout.tag}, got {tag!r}",
        )
    return word, tag


def _is_comment(line: str, columns: list[str]) -> bool:
    # "#" may well be a token. What tells a comment is "# key = value", as in CoNLL-U,
    # or that its last column is no tag.
    if not re.match(r"#\s", line):
        return False
    return line.split()[2:3] == ["="] or not _TAG.fullmatch(columns[-1].strip(_BLANKS))


def _extends_ascii(encoding: str) -> bool:
    try:
        return b"O\n".decode(encoding) == "O\n"
    except (LookupError, UnicodeError):
        return False
