"""What `--help` says, and that options mean the same in all commands."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from spacy.cli._util import app
from typer.main import get_command
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.cli import hashembeds_cli

COMMANDS = sorted(str(c.name) for c in hashembeds_cli.registered_commands)

#: What a short option stands for, wherever there is one that several commands have.
SHORT = {
    "-c": {"--config", "--corpus"},
    "-F": {"--force"},
    "-g": {"--gpu-id"},
    "-j": {"--jobs"},
    "-l": {"--lang"},
    "-o": {"--output"},
    "-q": {"--quiet"},
    "-s": {"--seed"},
    "-t": {"--train"},
}

#: The commands that show data.
WITH_JSON = {
    *("accelerate", "analyze", "attention", "compare", "doctor", "evaluate"),
    *("importance", "ratios", "trial"),
}


def show_help(*command: str) -> str:
    result = CliRunner().invoke(app, ["hashembeds", *command, "--help"])
    assert result.exit_code == 0, result.output
    return result.output


def get_parameters(command: str) -> Iterator[Any]:
    """The arguments and options of a command, as click has them."""
    group: Any = get_command(hashembeds_cli)
    yield from (p for p in group.commands[command].params if p.name != "help")


def get_names(parameter: Any) -> set[str]:
    return {*parameter.opts, *parameter.secondary_opts}


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_is_not_cut_and_fits(command):
    text = show_help(*command)
    # what may be given several times is written so
    text = re.sub(r"(\[ARGS\]|\{?(metrics|models)\}?)\.\.\.", "", text, flags=re.I)
    assert not re.search(r"\.\.\.|…", text)
    assert max(map(len, text.splitlines())) <= 80


def test_the_first_sentence_of_each_command_is_listed_whole():
    listed = " ".join(show_help().split())
    for command in hashembeds_cli.registered_commands:
        assert command.callback is not None
        paragraph, *_ = (command.callback.__doc__ or "").split("\n\n")
        sentence = " ".join(paragraph.split())
        assert sentence.endswith(".")
        assert f" {command.name} {sentence}" in listed


@pytest.mark.parametrize("command", COMMANDS)
def test_every_parameter_is_explained_in_a_sentence(command):
    for parameter in get_parameters(command):
        assert re.fullmatch(r"[A-Z].*\.", parameter.help or "", re.S), parameter.name


@pytest.mark.parametrize("command", COMMANDS)
def test_short_options_mean_the_same_everywhere(command):
    for parameter in get_parameters(command):
        names = get_names(parameter)
        for short, long in SHORT.items():
            assert short not in names or names & long, (parameter.name, short)
        for long in ("--output", "--train", "--quiet", "--force", "--lang", "--seed"):
            (short,) = (s for s, names_ in SHORT.items() if long in names_)
            assert long not in names or short in names, (parameter.name, short)


@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_and_json_are_the_same_everywhere(command):
    helps = {name: p.help for p in get_parameters(command) for name in get_names(p)}
    assert helps["--quiet"].startswith("Print only warnings, errors, and data")
    assert ("--json" in helps) == (command in WITH_JSON)
    if "--json" in helps:
        assert helps["--json"].startswith("Print everything as JSON, instead of tables")


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_is_written_is_an_argument(command):
    arguments = {
        p.name for p in get_parameters(command) if p.param_type_name == "argument"
    }
    assert arguments <= {
        *(
            "base",
            "dataset",
            "embedder",
            "folder",
            "grid",
            "metrics",
            "model",
            "models",
            "results",
        ),
        *("corpus", "test", "text", "train"),
    }
