"""docs/config.md: what it shows is what the command writes."""

import re
import sys
from collections.abc import Callable
from inspect import signature
from runpy import run_module
from shlex import split

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_hashembeds.tools.cli  # noqa: F401
from spacy_hashembeds.architectures.descriptions import list_names
from spacy_hashembeds.tools.cli import hashembeds_cli

from ...conftest import ROOT

PAGE = (ROOT / "docs/config.md").read_text(encoding="utf8")


def test_the_example_writes_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (shown,) = re.findall("```ini\n(.+?)```", PAGE, flags=re.DOTALL)
    (corpus,) = re.findall(r"^python (-m lab .*demo -o.*)", PAGE, re.M)
    monkeypatch.setattr(sys, "argv", split(corpus)[1:])
    with pytest.raises(SystemExit, match="0"):
        run_module("lab", run_name="__main__")
    for command in re.findall(r"^spacy .*base\.cfg.*", PAGE, re.M):
        result = CliRunner().invoke(app, split(command)[1:])
        assert result.exit_code == 0, result.output
    written = (tmp_path / "new.cfg").read_text().strip().split("\n\n")
    assert set(shown.strip().split("\n\n")) <= set(written)


def get_command() -> Callable:
    (command,) = (c for c in hashembeds_cli.registered_commands if c.name == "config")
    assert command.callback is not None
    return command.callback


def test_the_page_and_the_help_name_every_embedder():
    said = signature(get_command()).parameters["embedder"].default.help
    for name in list_names():
        assert f"`{name}`" in PAGE
        assert name in said


def test_the_page_names_every_option():
    named = set(re.findall(r"^\| `(--[\w-]+)`", PAGE, flags=re.MULTILINE))
    options = {
        name.split("/")[-1]
        for parameter in signature(get_command()).parameters.values()
        for name in getattr(parameter.default, "param_decls", None) or ()
        if name.startswith("--")
    }
    assert named == options - {"--quiet"}
