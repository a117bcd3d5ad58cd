"""Read rows of CSV and JSON files with their line numbers."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...files import load_json, quote
from ...training.lines import MAX_TEXT, decode_lines, fail, read_lines

#: A quoted field of CSV.
QUOTED = re.compile('"(?:[^"]|"")*"')

USE_QUOTES = "Use --quotes if quotation marks surround fields, otherwise --no-quotes"


def is_json(path: Path) -> bool:
    """True if a path has a JSON suffix."""
    return path.suffix.lower() in (".jsonl", ".ndjson", ".json")


def quote_all(names: Iterable[object]) -> str:
    """List up to 20 names for a message."""
    return ", ".join([quote(name) for name in names][:20])


def read_rows(
    path: Path, *, separator: str = ",", quotes: bool = True, encoding: str = "utf-8"
) -> Iterator[tuple[int, list[str]]]:
    """Yield non-blank rows of CSV, with the numbers of their first lines."""
    # global, but raising it is harmless
    csv.field_size_limit(max(csv.field_size_limit(), MAX_TEXT))
    lines = (line for _, line in decode_lines(path, encoding))
    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as err:
        fail(path, start, f"the row that begins here is not CSV ({err}). {USE_QUOTES}")


def read_objects(
    path: Path, encoding: str = "utf-8"
) -> Iterator[tuple[int | str, Any]]:
    """Yield JSON of lines or of an array, with the line number or "item 1"."""
    if path.suffix.lower() != ".json":
        for number, line in read_lines(path, encoding):
            if line.strip():
                try:
                    yield number, load_json(line)
                except ValueError as err:
                    fail(path, number, f"expected JSON on this line, but {err}")
        return
    text = "".join(line for _, line in decode_lines(path, encoding))
    try:
        items = load_json(text)
        if not isinstance(items, list):
            raise ValueError("got another value")
    except ValueError as err:
        message = f"{path}: expected a JSON array, but {err}"
        raise ValueError(f"{message}. With an object a line, use .jsonl.") from None
    yield from ((f"item {i}", item) for i, item in enumerate(items, start=1))
