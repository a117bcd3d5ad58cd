"""The lines of text files, with errors that name file and line."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn


def read_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Read the lines of a file, ended by LF or CRLF.

    path (Path): The file.
    encoding (str): Its encoding. A byte-order mark at the beginning is dropped.
    YIELDS (tuple[int, str]): The number of each line, from 1, and its text.
    RAISES (ValueError): Bytes that are not of this encoding, NUL characters, or a bare
        CR, as `path:line: …`.
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
            if "\0" in line:
                fail(
                    path, number, "NUL characters, as in a damaged file; expected text"
                )
            if "\r" in line:
                fail(path, number, "lines end in a bare carriage return; expected LF")
            yield number, line


def fail(path: Path, number: int, message: str) -> NoReturn:
    """Refuse a line of a file.

    RAISES (ValueError): Always, as `path:line: …`.
    """
    raise ValueError(f"{path}:{number}: {message}.")
