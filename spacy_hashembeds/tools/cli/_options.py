"""Options that commands share."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.cli._util import Arg, Opt, import_code

if TYPE_CHECKING:
    from ..prepare.columns import ColumnFormat, ColumnId

MODEL = Arg(..., help="The pipeline: a package name or a folder.")
LANG = Opt(..., "--lang", "-l", help="The language: --nlp.lang of 'spacy train'.")
FORCE = Opt(False, "--force", "-F", help="Replace existing output.")
SEPARATOR = Opt(
    None,
    "--separator",
    help=r"The column separator, e.g. '\t'.",
    callback=lambda text: text and text.replace(r"\t", "\t"),
)
WORD_COLUMN = Opt("0", "--word-column", help="The token's column, from 0, or its name.")
TAG_COLUMN = Opt("-1", "--tag-column", help="The tag's column, from 0, or its name.")
SENTENCE_COLUMN = Opt(
    None, "--sentence-column", help="The column that numbers sentences."
)
QUOTES = Opt(None, "--quotes/--no-quotes", help="Parse quoted fields, as in CSV.")
ENCODING = Opt("utf-8", "--encoding", help="The encoding of the files.")
GROUP = Opt("sentence", "--group", help="Make a Doc of each 'sentence' or 'document'.")
FEATURE = Opt([], "--feature", help="NAME=COLUMN: store the column as token._.NAME.")


def folder_output(what: str) -> Any:
    """Make the option for an output folder."""
    return Opt(..., "--output", "-o", help=what, file_okay=False)


def code_option(*names: str) -> Any:
    """Make the option for a Python file to import."""
    text = "A Python file to import first, with code that the pipeline needs."
    return Opt(None, "--code", *names, help=text, callback=_import_code)


def _import_code(path: Path | None) -> Path | None:
    import_code(path)
    return path


def read_column(text: str) -> "ColumnId":
    """Parse a column number, or return the name."""
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text) else text


def read_features(texts: Iterable[str]) -> dict[str, str]:
    """Parse NAME=COLUMN, or NAME if the column has the same name."""
    pairs = [text.partition("=") for text in texts]
    features = {name: column if sign else name for name, sign, column in pairs}
    if len(features) < len(pairs) or not all(map(str.isidentifier, features)):
        expected = "NAME=COLUMN, with each NAME once and like is_bold"
        raise ValueError(f"'feature' should be {expected}, but is {[*texts]!r:.80}.")
    return features


def make_layout(options: Mapping[str, Any]) -> "ColumnFormat":
    """Make the layout of IOB files from the options of a command."""
    from ..prepare.columns import ColumnFormat

    sentence = options["sentence_column"]
    features = read_features(options.get("feature", ())).items()
    return ColumnFormat(
        separator=options["separator"],
        word=read_column(options["word_column"]),
        tag=read_column(options["tag_column"]),
        sentence=None if sentence is None else read_column(sentence),
        features={name: read_column(column) for name, column in features},
        **{name: options[name] for name in ("encoding", "group", "quotes")},
    )
