"""Call commands of the lab, and check their failures."""

from click import unstyle
from typer.testing import CliRunner, Result

from lab.cli import lab_cli


def call(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(lab_cli, [command, *map(str, arguments)])


def succeed(command: str, *arguments: object) -> Result:
    result = call(command, *arguments)
    assert result.exit_code == 0, result.output
    return result


def squeeze(text: str) -> str:
    """Remove colours and line breaks."""
    return " ".join(unstyle(text).split())


def check_failure(result: Result, *messages: str) -> None:
    """Check that a command failed with these messages and without a traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    said = "".join(unstyle(result.output).split())
    for message in messages:
        assert "".join(message.split()) in said, message
