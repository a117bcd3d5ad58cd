"""The lines and rows of text files, with errors that name file and line."""

import csv
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NoReturn

#: A field that stands in quotation marks, as CSV has it.
QUOTED = re.compile('"(?:[^"]|"")*"')

#: The most bytes of a line. Corpora for word vectors have a hundred million on one;
#: what has more is damaged, and would fill the memory.
MAX_LINE = 2**27

#: The most characters of a text: the longest that spaCy takes by default.
MAX_TEXT = 1_000_000


def decode_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Read lines with what ends them, and their numbers, from 1. Drops a BOM."""
    # Bytes are split and then decoded, so that a wrong byte is found on its line.
    with path.open("rb") as file:
        lines = iter(partial(file.readline, MAX_LINE + 1), b"")
        for number, raw in enumerate(lines, start=1):
            if len(raw) > MAX_LINE:
                fail(
                    path,
                    number,
                    f"a line of more than {MAX_LINE:,} bytes, as in a damaged file; "
                    "expected shorter ones",
                )
            try:
                line = raw.decode(encoding)
            except UnicodeError as err:
                fail(
                    path,
                    number,
                    f"not {encoding} text ({err}). Save it as such, or say what it is "
                    "where a reader takes an encoding (--encoding)",
                )
            if number == 1:
                line = line.removeprefix("\ufeff")
            if "\0" in line:
                fail(
                    path, number, "NUL characters, as in a damaged file; expected text"
                )
            yield number, line


def read_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Read lines as `decode_lines` does, without what ends them. Refuses a bare CR."""
    for number, line in decode_lines(path, encoding):
        line = line.rstrip("\r\n")
        if "\r" in line:
            fail(path, number, "lines end in a bare carriage return; expected LF")
        yield number, line


def read_rows(
    path: Path, *, separator: str = ",", quotes: bool = True, encoding: str = "utf-8"
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a CSV file, but blank ones, and the line that each begins on.
    Without `quotes`, quotation marks are characters as any other.
    """
    # A limit of the whole process: nobody is hurt by a higher one.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_TEXT))
    lines = (line for _, line in decode_lines(path, encoding))
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    is_empty = True
    start = 1
    try:
        for row in reader:
            if row:
                is_empty = False
                yield start, row
            start = reader.line_num + 1
    except csv.Error as err:
        rule = (
            "Fields that hold quotation marks should stand in such marks, and those "
            "within be doubled; if they are part of the texts, say --no-quotes, or "
            "quotes = false in a config. "
        )
        fail(
            path,
            start,
            f"the row that begins here is no CSV ({err}). {rule * quotes}Fields should "
            f"have no bare carriage return, and {MAX_TEXT:,} characters at most",
        )
    if is_empty:
        raise ValueError(f"{path}: expected rows of CSV, but the file is empty.")


def fail(path: Path, number: int | str, message: object) -> NoReturn:
    """Refuse a line of a file, or an item: raise a ValueError, `path:line: …`."""
    raise ValueError(f"{path}:{number}: {message}.")


def check_length(
    path: Path, number: int | str, text: str, limit: int = MAX_TEXT
) -> None:
    """Refuse a text that spaCy does not take, whose own error names no line."""
    if len(text) > limit:
        fail(
            path,
            number,
            f"expected a text of {limit:,} characters at most, which spaCy takes, got "
            f"{len(text):,}. Split it, or leave it out",
        )


def check_encoding(encoding: str) -> None:
    """Refuse an encoding unknown to Python, or whose lines don't end as in ASCII."""
    try:
        extends_ascii = b"O\n".decode(encoding) == "O\n"
    except (LookupError, UnicodeError):
        extends_ascii = False
    if not extends_ascii:
        raise ValueError(
            "'encoding' should be one that Python knows and that extends ASCII, "
            f"such as 'utf-8' or 'latin-1', but is {encoding!r}."
        )


def check_path(path: Path | None) -> Path:
    """Refuse a path that is not set, or where nothing is."""
    if path is None:
        raise ValueError(
            "A path should be that of a file to read, but is None. Maybe you forgot to "
            "define it in your .cfg file or to override it on the CLI?"
        )
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}' to read.")
    return path


def check_is_regular(path: Path) -> None:
    """Refuse a pipe, or what else can't be read twice, if it is there."""
    if path.exists() and not path.is_file():
        raise ValueError(
            f"'{path}' is read twice, so it should be a file, but is a pipe or "
            "something else that is none. Save what it gives, and name that."
        )
