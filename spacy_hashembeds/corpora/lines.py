"""The lines of text files, with errors that name file and line."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

#: The most bytes of a line. Corpora for word vectors have a hundred million on one;
#: what has more is damaged, and would fill the memory.
MAX_LINE = 2**27

#: The most characters of a text: the longest that spaCy takes by default.
MAX_TEXT = 1_000_000


def decode_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Read the lines of a file, with what ends them: LF alone, or after a CR.

    path (Path): The file.
    encoding (str): Its encoding. A byte-order mark at the beginning is dropped.
    YIELDS (tuple[int, str]): The number of each line, from 1, and its text.
    RAISES (ValueError): Bytes that are not of this encoding, NUL characters, or a line
        of more than `MAX_LINE` bytes, as `path:line: …`.
    """
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
                fail(path, number, f"not {encoding} text ({err})")
            if number == 1:
                line = line.removeprefix("\ufeff")
            if "\0" in line:
                fail(
                    path, number, "NUL characters, as in a damaged file; expected text"
                )
            yield number, line


def read_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Read the lines of a file as `decode_lines` does, without what ends them.

    RAISES (ValueError): A bare CR too.
    """
    for number, line in decode_lines(path, encoding):
        line = line.rstrip("\r\n")
        if "\r" in line:
            fail(path, number, "lines end in a bare carriage return; expected LF")
        yield number, line


def fail(path: Path, number: int, message: str) -> NoReturn:
    """Refuse a line of a file.

    RAISES (ValueError): Always, as `path:line: …`.
    """
    raise ValueError(f"{path}:{number}: {message}.")


def check_length(path: Path, number: int, text: str, limit: int = MAX_TEXT) -> None:
    """Check that spaCy takes a text, whose own error names neither file nor line.

    path (Path): The file that it stands in.
    number (int): The line that it begins on.
    text (str): The text.
    limit (int): The most characters that it may have.
    RAISES (ValueError): If it is longer, as `path:line: …`.
    """
    if len(text) > limit:
        fail(
            path,
            number,
            f"expected a text of {limit:,} characters at most, which spaCy takes, got "
            f"{len(text):,}. Split it, or leave it out",
        )


def check_encoding(encoding: str) -> None:
    """Check that lines end in an encoding where they end in ASCII.

    RAISES (ValueError): If they don't, or Python knows no such encoding.
    """
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
    """Check what a reader is to read before anything is read of it.

    A missing development file would else be noticed at the first evaluation only.

    RAISES (ValueError): If it is None, as a variable of a config is by default.
    RAISES (FileNotFoundError): If there is no such file or folder.
    RETURNS (Path): The path.
    """
    if path is None:
        raise ValueError(
            "'path' should be the file to read, but is None. Maybe you forgot to "
            "define it in your .cfg file or to override it on the CLI?"
        )
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file or folder '{path}', which 'path' names."
        )
    return path


def check_file(path: Path | None) -> Path:
    """Check a path as `check_path` does, and that it is no folder.

    RAISES (ValueError): If it is one, too.
    """
    path = check_path(path)
    if path.is_dir():
        raise ValueError(f"'path' should be a file, but '{path}' is a folder.")
    return path


def check_is_regular(path: Path) -> None:
    """Check that a file can be read twice.

    RAISES (ValueError): If it is a pipe, or else no regular file. Nothing is said of
        one that is not there.
    """
    if path.exists() and not path.is_file():
        raise ValueError(
            f"'{path}' is read twice, so it should be a file, but is a pipe or "
            "something else that is none. Save what it gives, and name that."
        )
