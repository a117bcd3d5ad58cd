"""The rows of CSV files: read lazily, with errors that name file and line."""

import csv
from collections.abc import Iterator
from pathlib import Path

from .lines import MAX_TEXT, decode_lines, fail


def read_rows(
    path: Path, *, separator: str = ",", encoding: str = "utf-8"
) -> Iterator[tuple[int, list[str]]]:
    """Read a CSV file. Fields may stand in quotation marks, within which such marks are
    doubled and lines may end.

    path (Path): The file.
    separator (str): What stands between fields, one character.
    encoding (str): Its encoding, one that extends ASCII.
    YIELDS (tuple[int, list[str]]): The line that each row begins on, and its fields.
        Blank lines are passed over.
    RAISES (ValueError): A line that `decode_lines` refuses, a quotation mark that is
        not closed or not doubled, or a field of more than `MAX_TEXT` characters, as
        `path:line: …`; or a file without a row, as `path: …`.
    """
    # A limit of the whole process: nobody is hurt by a higher one.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_TEXT))
    lines = (line for _, line in decode_lines(path, encoding))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    is_empty = True
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as err:
            fail(
                path,
                start,
                f"the row that begins here is no CSV ({err}). Fields that hold "
                "quotation marks should stand in such marks, and those within be "
                f"doubled; none may be longer than {MAX_TEXT:,} characters",
            )
        if row:
            is_empty = False
            yield start, row
    if is_empty:
        raise ValueError(f"{path}: expected rows of CSV, but the file is empty.")
