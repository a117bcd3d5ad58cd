"""docs/lab.md: every command, and the options of those that have a section."""

import re

import pytest

from lab.cli import lab_cli
from tests.test_reference import get_options, read_defaults, read_sections

SECTIONS = read_sections("lab.md")
COMMANDS = {
    str(command.name): command.callback
    for command in lab_cli.registered_commands
    if command.callback is not None
}


def test_every_command_is_listed():
    listed = re.findall(r"^\| `python -m lab (\w+)", SECTIONS["The lab"], re.M)
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("name", ["attention", "importance", "ratios"])
def test_options_have_the_defaults_of_the_command(name):
    documented = read_defaults(SECTIONS[f"`{name}`"], "option")
    assert documented == get_options(COMMANDS[name])
