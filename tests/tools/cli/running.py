"""Run commands, and read their output."""

import re
from functools import cache
from pathlib import Path

import typer.testing
from spacy.cli._util import app
from typer.testing import CliRunner, Result

import spacy_hashembeds.tools.cli  # noqa: F401

# Build spaCy's commands once.
typer.testing._get_command = cache(typer.testing._get_command)


def try_command(*args: str | Path) -> Result:
    """Run `spacy hashembeds` with arguments."""
    return CliRunner().invoke(app, ["hashembeds", *map(str, args)])


def run_command(*args: str | Path) -> Result:
    """Run a command that succeeds."""
    result = try_command(*args)
    assert result.exit_code == 0, result.output
    return result


def unwrap(text: str) -> str:
    """Undo the wrapping of lines."""
    return " ".join(text.split())


def squeeze(text: str) -> str:
    """Remove white space, since long names are wrapped, too."""
    return "".join(text.split())


def remove_colors(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def get_rows(output: str) -> list[list[str]]:
    """Return the words of each line."""
    return [line.split() for line in output.splitlines() if line.strip()]


def read_all(folder: Path = Path()) -> dict[Path, bytes]:
    """Read all files of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_refused(result: Result, *messages: str) -> None:
    """Check that a command has failed with messages, without a traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    for message in messages:
        assert squeeze(message) in squeeze(result.output)
