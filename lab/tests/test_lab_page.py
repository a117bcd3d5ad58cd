"""docs/lab.md: every command is there."""

import re

from lab.cli import lab_cli
from tests.test_reference import read_sections

COMMANDS = [str(command.name) for command in lab_cli.registered_commands]


def test_every_command_is_listed():
    section = read_sections("lab.md")["The lab"]
    listed = re.findall(r"^\| `python -m lab (\w+)", section, re.M)
    assert sorted(listed) == sorted(COMMANDS)
