"""Read lines of text files. Errors name file and line."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

#: Maximum bytes per line. Corpora for word vectors have lines of 1e8 bytes.
MAX_LINE = 2**27

#: spaCy's default limit of characters per text.
MAX_TEXT = 1_000_000

# NUL and unpaired surrogates, which are valid in JSON only.
_INVALID = re.compile("[\0\ud800-\udfff]")


def decode_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield numbers, from 1, and lines with line ends, without a BOM."""
    # split before decoding, so that errors name the line of an invalid byte
    with path.open("rb") as file:
        lines = iter(partial(file.readline, MAX_LINE + 1), b"")
        for number, raw in enumerate(lines, start=1):
            if len(raw) > MAX_LINE:
                message = f"a line of more than {MAX_LINE:,} bytes, as in damaged files"
                fail(path, number, message)
            try:
                line = raw.decode(encoding)
            except (UnicodeError, LookupError) as err:
                remedy = "Convert it to UTF-8, or pass --encoding if available"
                fail(path, number, f"not {encoding} text ({err}). {remedy}")
            if number == 1:
                line = line.removeprefix("\ufeff")
            if "\0" in line:
                fail(path, number, "NUL characters, as in damaged files")
            yield number, line


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield numbers and lines without line ends. Refuse bare CR."""
    for number, line in decode_lines(path, encoding):
        line = line.rstrip("\r\n")
        if "\r" in line:
            fail(path, number, "lines end in a bare carriage return; expected LF")
        yield number, line


def fail(path: Path, number: int | str, message: object) -> NoReturn:
    """Raise a ValueError for a line or item: `path:line: …`."""
    raise ValueError(f"{path}:{number}: {message}.")


def check_length(
    path: Path, number: int | str, text: str, limit: int = MAX_TEXT
) -> None:
    """Refuse a text longer than spaCy's limit. spaCy's error names no line."""
    if len(text) > limit:
        message = f"expected a text of at most {limit:,} characters, got {len(text):,}"
        fail(path, number, f"{message}. Split or remove it")


def check_path(path: Path | None) -> Path:
    """Refuse a path that is None or does not exist."""
    if path is None:
        raise ValueError(
            "A path to read is None. Set it in the .cfg file or on the CLI."
        )
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder '{path}' to read.")
    return path


def check_is_regular(path: Path) -> None:
    """Refuse pipes and other files that can't be read twice."""
    if path.exists() and not path.is_file():
        raise ValueError(
            f"'{path}' is read twice, so it should be a file, not a pipe or similar. "
            "Save its content to a file, and pass that."
        )


def is_text(value: Any) -> bool:
    """True if a JSON value is a string without NUL or unpaired surrogates."""
    return isinstance(value, str) and not _INVALID.search(value)
