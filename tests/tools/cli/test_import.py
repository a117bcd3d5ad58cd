"""What is imported, in processes of their own."""

import json
import subprocess
import sys
from importlib.metadata import entry_points

CLI = "spacy_hashembeds.tools.cli"


def run(code: str) -> set[str]:
    """Run code that ends with a variable `names`, a collection of names."""
    code = f"import json, sys\n{code}\nprint(json.dumps(sorted(names)))"
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(json.loads(printed))


def test_every_spacy_command_imports_our_commands_and_nothing_more():
    # spaCy imports what is in its group `spacy_cli` whichever command is run.
    names = run(
        f"import spacy.cli; before = set(sys.modules); import {CLI}\n"
        "names = set(sys.modules) - before"
    )
    assert CLI in names
    foreign = {name for name in names if name.split(".")[0] != "spacy_hashembeds"}
    assert foreign == set()
    # for the names of embedders in a help text; it imports none of them
    packages = (f"{CLI}.", "spacy_hashembeds.architectures.descriptions.")
    ours = {name for name in names if not name.startswith(CLI)}
    assert all(any(each.startswith(f"{name}.") for each in packages) for name in ours)


def test_importing_the_package_imports_nothing_but_what_python_brings():
    names = run(
        "before = set(sys.modules); import spacy_hashembeds\n"
        "names = set(sys.modules) - before"
    )
    ours = {name for name in names if name.startswith("spacy_hashembeds")}
    assert ours == {"spacy_hashembeds"}
    assert {name.split(".")[0] for name in names - ours} <= sys.stdlib_module_names


def test_spacy_finds_our_commands_by_itself():
    (ours,) = entry_points(group="spacy_cli", name="hashembeds")
    assert {command.name for command in ours.load().registered_commands} == {
        *("accelerate", "analyze", "config", "doctor", "evaluate"),
        *("label", "prepare", "tables"),
    }
