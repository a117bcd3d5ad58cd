"""Commands as tests run them, and what they print."""

import re
from functools import cache
from pathlib import Path

import typer.testing
from spacy.cli._util import app
from typer.testing import CliRunner, Result

import spacy_hashembeds.tools.cli  # noqa: F401

# All of spaCy's commands are made once, and not for each that is run.
typer.testing._get_command = cache(typer.testing._get_command)


def try_command(*args: str | Path) -> Result:
    """Run `spacy hashembeds` with these words."""
    return CliRunner().invoke(app, ["hashembeds", *map(str, args)])


def run_command(*args: str | Path) -> Result:
    """Run what has to succeed."""
    result = try_command(*args)
    assert result.exit_code == 0, result.output
    return result


def unwrap(text: str) -> str:
    """Put on one line what is wrapped where a line is full."""
    return " ".join(text.split())


def squeeze(text: str) -> str:
    """Take out all blanks: long names are wrapped, too."""
    return "".join(text.split())


def remove_colours(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def get_rows(output: str) -> list[list[str]]:
    """Get the words of each line."""
    return [line.split() for line in output.splitlines() if line.strip()]


def read_all(folder: Path = Path()) -> dict[Path, bytes]:
    """Read all files of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_refused(result: Result, *messages: str) -> None:
    """Check that a command has failed, and said so without a traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    for message in messages:
        assert squeeze(message) in squeeze(result.output)
