"""The rows of CSV and JSON files, and where each stands."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from ...files import load_json
from ...training.lines import MAX_LINE, MAX_TEXT, decode_lines, fail, read_lines

#: A field that stands in quotation marks, as CSV has it.
QUOTED = re.compile('"(?:[^"]|"")*"')

SAY_QUOTES = (
    "If quotation marks are part of the text, say --no-quotes (quotes = false); if "
    "they stand around fields, --quotes (quotes = true)"
)


def is_json(path: Path) -> bool:
    """True if a file is JSON by its name."""
    return path.suffix.lower() in (".jsonl", ".ndjson", ".json")


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
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as err:
        message = f"the row that begins here is no CSV ({err}), whose marks are doubled"
        fail(path, start, f"{message} within others. {SAY_QUOTES}")


def read_objects(
    path: Path, encoding: str = "utf-8"
) -> Iterator[tuple[int | str, Any]]:
    """Read the JSON of each line, with its number; of a .json file, which holds an
    array, each item, as "item 1".
    """
    if path.suffix.lower() != ".json":
        for number, line in read_lines(path, encoding):
            if line.strip():
                try:
                    yield number, load_json(line)
                except ValueError as err:
                    fail(path, number, f"expected JSON on this line, but {err}")
        return
    remedy = "A file with an object on each line should be named .jsonl."
    if path.stat().st_size > MAX_LINE:
        message = f"{path}: a JSON array of more than {MAX_LINE:,} bytes"
        raise ValueError(f"{message}. {remedy}")
    text = "".join(line for _, line in decode_lines(path, encoding))
    try:
        items = load_json(text)
        if not isinstance(items, list):
            raise ValueError("it is none")
    except ValueError as err:
        raise ValueError(
            f"{path}: expected a JSON array, but {err}. {remedy}"
        ) from None
    yield from ((f"item {i}", item) for i, item in enumerate(items, start=1))


def check_separator(separator: str | None) -> None:
    """Refuse a separator that `csv` does not take."""
    if separator is not None and not re.fullmatch('[^"\r\n]', separator):
        raise ValueError(f"'separator' should be a character, but is {separator!r}.")


def check_encoding(encoding: str) -> None:
    """Refuse an encoding unknown to Python, or whose lines don't end as in ASCII."""
    try:
        is_known = b"O\n".decode(encoding) == "O\n"
    except (LookupError, UnicodeError):
        is_known = False
    if not is_known:
        raise ValueError(
            "'encoding' should be known to Python and extend ASCII, such as 'latin-1', "
            f"but is {encoding!r}."
        )
