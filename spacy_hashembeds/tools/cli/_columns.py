"""The options of commands that read IOB files."""

import re
from typing import TYPE_CHECKING, Any

from spacy.cli._util import Opt

if TYPE_CHECKING:
    from ..prepare.columns import Column, ColumnFormat

SEPARATOR = Opt(
    None,
    "--separator",
    help=r"What separates the columns of IOB files, e.g. '\t'. Default: tabs where all "
    "of the first lines have some, else any blanks.",
)

WORD_COLUMN = Opt(
    "0",
    "--word-column",
    help="The column of the token in IOB files, from 0; -1 is the last. Or its name in "
    "the first line.",
)

TAG_COLUMN = Opt(
    "-1", "--tag-column", help="The column of the entity tag in IOB files, likewise."
)

SENTENCE_COLUMN = Opt(
    None,
    "--sentence-column",
    help="The column of IOB files, likewise, that numbers sentences, in each of their "
    "rows or the first. Default: blank lines stand between sentences; '' if they do "
    "though a column has such numbers.",
)

QUOTES = Opt(
    None,
    "--quotes/--no-quotes",
    help="Whether quotation marks may stand around fields, to be taken off. Default: "
    "in CSV, and in IOB files where commas or semicolons separate.",
)

ENCODING = Opt("utf-8", "--encoding", help="The encoding of IOB files.")

GROUP = Opt(
    "sentence",
    "--group",
    help="What becomes one Doc of an IOB file: each 'sentence', or each 'document' by "
    "-DOCSTART- lines.",
)


def read_column(text: str) -> "Column":
    """Take a number for the place of a column, and all else for its name."""
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text) else text


def make_layout(
    *,
    separator: str | None,
    word: str,
    tag: str,
    sentence: str | None,
    **options: Any,
) -> "ColumnFormat":
    """Make the layout of IOB files of what these options hold."""
    from ..prepare.columns import ColumnFormat

    return ColumnFormat(
        separator=separator and separator.replace(r"\t", "\t"),
        word=read_column(word),
        tag=read_column(tag),
        sentence=None if sentence is None else read_column(sentence),
        **options,
    )
