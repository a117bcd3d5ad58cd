"""Imports of the package and of the command line, in a new process."""

import json
import subprocess
import sys
from importlib.metadata import entry_points

from ...conftest import ROOT

CLI = "spacy_hashembeds.tools.cli"
CODE = f"""
import json, sys
start = set(sys.modules)
import spacy_hashembeds
package = set(sys.modules) - start
import spacy.cli
before = set(sys.modules)
import {CLI}
commands = set(sys.modules) - before
print(json.dumps([sorted(package), sorted(commands)]))
"""


def test_spacy_commands_import_few_of_our_modules():
    """Each `spacy` command imports the entry points `spacy_cli`."""
    command = [sys.executable, "-c", CODE]
    found = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    package, commands = json.loads(found.stdout)
    ours = {name for name in package if name.startswith("spacy_hashembeds")}
    assert ours == {"spacy_hashembeds"}
    names = {name.split(".")[0] for name in package}
    assert names - {"spacy_hashembeds"} <= sys.stdlib_module_names
    assert f"{CLI}.pipelines" in commands
    # names of embedders, for a help text
    known = (f"{CLI}.", "spacy_hashembeds.architectures.descriptions.")
    other = [each for each in commands if not each.startswith(CLI)]
    assert all(any(name.startswith(f"{each}.") for name in known) for each in other)


def test_spacy_finds_our_commands():
    (ours,) = entry_points(group="spacy_cli", name="hashembeds")
    assert {command.name for command in ours.load().registered_commands} == {
        *("accelerate", "analyze", "config", "doctor", "evaluate"),
        *("label", "prepare", "tables"),
    }
