"""Call commands of the lab, and read their output."""

import re

from click import unstyle
from typer.testing import CliRunner, Result

from lab.cli import lab_cli


def call(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(lab_cli, [command, *map(str, arguments)])


def succeed(command: str, *arguments: object) -> Result:
    result = call(command, *arguments)
    assert result.exit_code == 0, result.output
    return result


def read_cells(text: str) -> list[list[str]]:
    """Return the cells of each line of a table."""
    return [re.split(" {2,}", line.strip()) for line in text.splitlines()]


def squeeze(text: str) -> str:
    """Remove colors and line breaks."""
    return " ".join(unstyle(text).split())


def check_failure(result: Result, *messages: str) -> None:
    """Check that a command failed with these messages and without a traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    output = "".join(unstyle(result.output).split())
    for message in messages:
        assert "".join(message.split()) in output, message
