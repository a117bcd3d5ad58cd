"""Files with one token a line: read lazily, one document in memory at a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..checks import check_choice
from ..files import quote
from .lines import check_encoding, fail, read_lines

DOCSTART = "-DOCSTART-"

# B, I, O; L and U end and stand alone in BILUO, E and S do so in BIOES.
_TAG = re.compile(r"O|[BILUES]-.+")

# Not what Python calls white space: a no-break space may be part of a word.
_BLANKS = " \t"

# Sentences of numbers alone that show a column of numbers to be taken for the words.
_ENOUGH_NUMBERED = 3


class Sentence(NamedTuple):
    """The words of a sentence, and the entity tag of each."""

    words: list[str]
    tags: list[str]


Document = list[Sentence]


class _Block(NamedTuple):
    document: int
    sentence: Sentence
    #: The number of its last line, and what was in that.
    line: int
    columns: list[str]


@dataclass(frozen=True)
class ColumnFormat:
    """The settings of `spacy-hashembeds.IOBCorpus.v1`, checked."""

    separator: str | None = None
    word: int = 0
    tag: int = -1
    encoding: str = "utf-8"
    group: str = "sentence"

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
        check_choice(("sentence", "document"), group=self.group)
        check_encoding(self.encoding)


def read_documents(path: Path, layout: ColumnFormat) -> Iterator[Document]:
    """Read the documents that hold at least one token, keeping no more than one."""
    blocks = _refuse_numbers(path, layout, _read_blocks(path, layout))
    if layout.group == "sentence":
        yield from ([block.sentence] for block in blocks)
    else:
        for _, members in groupby(blocks, key=attrgetter("document")):
            yield [block.sentence for block in members]


def make_doc(vocab: Vocab, document: Document) -> Doc:
    """Make the annotated `Doc` of a document, as `spacy convert` does: with unknown
    spaces, so that training keeps the tokens. Tags mean what they do to conlleval.
    """
    words = [word for sentence in document for word in sentence.words]
    starts: list[bool | int | None] = []
    tags: list[str] = []
    for sentence in document:
        starts += [i == 0 for i in range(len(sentence.tags))]
        tags += map(_to_bio, ["O", *sentence.tags], sentence.tags)
    return Doc(vocab, words=words, sent_starts=starts, ents=tags)


def _to_bio(before: str, tag: str) -> str:
    """Give the BIO tag of what stands after another. B, U and S begin an entity, L, E,
    U and S end one; I, L and E go on with an open one, which Doc ends at other labels.
    """
    if tag == "O":
        return tag
    begins = tag[0] in "BUS" or before[0] not in "BI"
    return ("B" if begins else "I") + tag[1:]


def _read_blocks(path: Path, layout: ColumnFormat) -> Iterator[_Block]:
    document = 0
    block = _Block(document, Sentence([], []), 0, [])
    # the last sentence ends as one before a blank line
    for number, line in chain(read_lines(path, layout.encoding), [(0, "")]):
        if layout.separator is None:
            columns = re.split(f"[{_BLANKS}]+", line.strip(_BLANKS))
        else:
            columns = line.split(layout.separator)
        starts_document = columns[0] == DOCSTART
        words, tags = block.sentence
        if starts_document or not line.strip(f"{_BLANKS}\ufeff"):
            if words:
                yield block
            document += starts_document
            block = _Block(document, Sentence([], []), 0, [])
        elif words or not _is_comment(line, columns, layout.tag):
            try:
                word, tag = _parse_row(columns, layout, document)
            except ValueError as err:
                fail(path, number, err)
            words.append(word)
            tags.append(tag)
            block = _Block(document, block.sentence, number, columns)


def _refuse_numbers(
    path: Path, layout: ColumnFormat, blocks: Iterator[_Block]
) -> Iterator[_Block]:
    """Refuse a file whose first three sentences, or all, are the numbers of words."""
    numbered: list[_Block] = []
    is_open = True
    for block in blocks:
        if is_open and len(block.sentence.words) > 1:
            # Of two columns, neither can be another that holds the words.
            is_open = len(block.columns) > 2 and _are_numbers(block.sentence.words)
            numbered.append(block)
            if is_open and len(numbered) == _ENOUGH_NUMBERED:
                break
        yield block
    if is_open and numbered:
        _, _, line, texts = numbered[0]
        columns = [f"{i} ({quote(text, 20)})" for i, text in enumerate(texts[:20])]
        tags = [str(i) for i, text in enumerate(texts) if _is_tag(text)]
        fail(
            path,
            line,
            f"column {layout.word} should hold the words, but numbers them. The "
            f"columns are {', '.join(columns)}; tags may stand in "
            f"{' or '.join(tags[:4])}. Say which has the words and which the tags: "
            "--word-column and --tag-column, or word_column and tag_column in a config",
        )


def _are_numbers(words: list[str]) -> bool:
    # In CoNLL-U, "3-4" is what 3 and 4 are written as, and "4.1" is a word left out.
    numbers = [word for word in words if not re.fullmatch(r"[0-9]+[-.][0-9]+", word)]
    if not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(numbers)}
    return steps <= {1} or steps <= {0}  # the number of the sentence, all the way


def _parse_row(
    columns: list[str], layout: ColumnFormat, document: int
) -> tuple[str, str]:
    if layout.group == "document" and not document:
        raise ValueError(
            f"expected a {DOCSTART} line before the first token, as documents are to "
            "be told apart by such lines. Where the file has none, use "
            "group = 'sentence'"
        )
    places = (layout.word, layout.tag)
    width = max(2, *(place + 1 if place >= 0 else -place for place in places))
    if len(columns) < width:
        between = "blanks" if layout.separator is None else repr(layout.separator)
        raise ValueError(
            f"expected at least {width} columns with {between} between them, got "
            f"{len(columns)}: {quote(columns)}"
        )
    word, tag = columns[layout.word], columns[layout.tag]
    if not word:
        raise ValueError(
            f"expected a word in column {layout.word}, got {quote(columns)}"
        )
    if not _is_tag(tag):
        raise ValueError(
            "expected a tag of the BIO, BILUO or BIOES scheme, such as 'O' or 'B-PER', "
            f"in column {layout.tag}, got {quote(tag.strip(_BLANKS))}"
        )
    return word, tag.strip(_BLANKS)


def _is_tag(text: str) -> bool:
    return _TAG.fullmatch(text.strip(_BLANKS)) is not None


def _is_comment(line: str, columns: list[str], tag: int) -> bool:
    # "#" may well be a token. What tells a comment is "# key = value", as in CoNLL-U,
    # or that there is no tag in its column.
    if not re.match(r"#\s", line):
        return False
    has_tag = -len(columns) <= tag < len(columns) and _is_tag(columns[tag])
    return line.split()[2:3] == ["="] or not has_tag
