"""docs/config.md: what it shows is what the command writes."""

import re
from collections.abc import Callable
from inspect import signature

from spacy.cli.init_config import init_config

from spacy_hashembeds.architectures.descriptions import list_names
from spacy_hashembeds.tools.cli import hashembeds_cli
from spacy_hashembeds.tools.config.configure import configure

from ...conftest import ROOT

PAGE = (ROOT / "docs/config.md").read_text(encoding="utf8")


def test_the_example_is_what_is_written(tmp_path, tiny_corpus):
    (shown,) = re.findall("```ini\n(.+?)```", PAGE, flags=re.DOTALL)
    init_config(lang="en", pipeline=["ner"]).to_disk(tmp_path / "base.cfg")
    made = configure(tmp_path / "base.cfg", train=tiny_corpus / "train.spacy")
    assert shown in made.text


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
