"""Commands as tests run them, and what they print."""

import re
from pathlib import Path

from spacy.cli._util import app
from typer.testing import CliRunner, Result

import spacy_hashembeds.tools.cli  # noqa: F401


def run_command(*args: str | Path) -> Result:
    """Run `spacy hashembeds` with these words."""
    return CliRunner().invoke(app, ["hashembeds", *map(str, args)])


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


def check_refused(result: Result, *messages: str) -> None:
    """Check that a command has failed, and said so without a traceback."""
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    for message in messages:
        assert squeeze(message) in squeeze(result.output)
