"""docs/config.md agrees with the command."""

import re
from typing import Any

from spacy.cli.init_config import init_config
from typer.main import get_command

from spacy_hashembeds.architectures.descriptions import list_names
from spacy_hashembeds.tools.cli import hashembeds_cli
from spacy_hashembeds.tools.config.configure import configure

from ...conftest import ROOT

COMMAND: Any = get_command(hashembeds_cli).commands["config"]
PAGE = (ROOT / "docs/config.md").read_text(encoding="utf8")


def test_example_of_the_page(tmp_path, tiny_corpus):
    (shown,) = re.findall("```ini\n(.+?)```", PAGE, flags=re.DOTALL)
    init_config(lang="en", pipeline=["ner"]).to_disk(tmp_path / "base.cfg")
    made = configure(tmp_path / "base.cfg", train=tiny_corpus / "train.spacy")
    assert shown in made.text


def test_page_and_help_list_all_embedders():
    (text,) = (each.help for each in COMMAND.params if each.name == "embedder")
    for name in list_names():
        assert f"`{name}`" in PAGE
        assert name in text
