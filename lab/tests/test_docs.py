"""Pages for readers: their links lead somewhere, and what they name is there."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer import Typer
from typer.main import get_command

from lab.cli import lab_cli
from lab.pages import reference
from spacy_hashembeds.tools.cli import hashembeds_cli
from tests.conftest import ROOT
from tests.test_reference import read_sections

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("lab/*.md")]
#: What a command begins with, and what has it.
APPS = {"spacy hashembeds ": hashembeds_cli, "python -m lab ": lab_cli}


def read(path: Path) -> str:
    return path.read_text(encoding="utf8")


def find_anchors(page: Path) -> set[str]:
    """The names of a page's headings in links, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", read(page), re.M)
    texts = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {text.replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), link
        assert not anchor or anchor in find_anchors(target), link


def find_commands(page: Path) -> Iterator[tuple[Typer, str]]:
    """The commands of a page with what has them: in lines of code, or in backticks."""
    blocks = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
    text = read(page)
    codes = [line for block in blocks.findall(text) for line in block.splitlines()]
    inline = re.findall(r"`([^`]+)`", blocks.sub("", text))
    for code in codes + [" ".join(code.split()) for code in inline]:
        for start, app in APPS.items():
            if start in code and re.match(r"(\w+=\S+ )?(spacy|python) ", code):
                yield app, code.partition(start)[2].partition(" # ")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_their_options_are_there(page: Path):
    for app, line in find_commands(page):
        name, *words = shlex.split(line)
        if name == "…":
            continue
        commands = get_command(app).commands  # type: ignore[attr-defined]
        assert name in commands, line
        known = {option for p in commands[name].params for option in p.opts}
        known |= {option for p in commands[name].params for option in p.secondary_opts}
        options = (re.match(r"\[?(--?[a-z][\w.-]*)", word) for word in words)
        # settings of a config have a dot
        given = {found[1] for found in options if found and "." not in found[1]}
        assert given <= known | {"--help"}, line


def test_paths_of_the_project_are_there():
    folders = "lab|docs|tests|spacy_hashembeds"
    for page in PAGES:
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", read(page)):
            assert (ROOT / path).exists(), (page.name, path)


def test_every_command_of_the_lab_is_listed():
    section = read_sections("lab.md")["The lab"]
    listed = re.findall(r"^\| `python -m lab (\w+)", section, re.M)
    assert sorted(listed) == sorted(str(c.name) for c in lab_cli.registered_commands)


@pytest.mark.parametrize("page", reference.PAGES, ids=lambda page: page.name)
def test_signatures_and_sentences_are_those_of_the_code(page: Path):
    assert reference.ENTRY.search(read(page))
    assert reference.fill(read(page)) == read(page)
