"""Links, paths, commands and signatures on pages are valid."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
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
for_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
#: Apps by the beginnings of their commands.
APPS = {"spacy hashembeds ": hashembeds_cli, "python -m lab ": lab_cli}


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf8")


def find_anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings on GitHub."""
    headings = re.findall(r"^#+ (.+)$", read(page), re.M)
    texts = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {text.replace(" ", "-") for text in texts}


@for_each_page
def test_links_and_paths_exist(page: Path):
    for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            target = (page.parent / path) if path else page
            assert target.exists(), link
            assert not anchor or anchor in find_anchors(target), link
    folders = "lab|docs|tests|spacy_hashembeds"
    for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", read(page)):
        assert (ROOT / path).exists(), path


def find_commands(page: Path) -> Iterator[tuple[Typer, str]]:
    """Yield the commands of a page, in code blocks or backticks, with their apps."""
    blocks = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
    codes = "".join(blocks.findall(read(page))).splitlines()
    codes += re.findall(r"`([^`]+)`", blocks.sub("", read(page)))
    for code in (" ".join(code.split()) for code in codes):
        for start, app in APPS.items():
            if re.match(r"(\w+=\S+ )?(spacy|python) ", code) and start in code:
                yield app, code.partition(start)[2].partition(" # ")[0]


@for_each_page
def test_commands_and_their_options_exist(page: Path):
    for app, line in find_commands(page):
        name, *words = shlex.split(line)
        if name != "…":
            params = get_command(app).commands[name].params  # type: ignore[attr-defined]
            known = {o for p in params for o in (*p.opts, *p.secondary_opts)}
            options = (re.match(r"\[?(--?[a-z][\w.-]*)", word) for word in words)
            # settings of a config have a dot
            given = {found[1] for found in options if found and "." not in found[1]}
            assert given <= known | {"--help"}, line


def test_all_commands_of_the_lab_are_listed():
    section = read_sections("../lab/README.md")["The lab"]
    listed = {*re.findall(r"`(\w+)`", section)}
    assert listed >= {str(command.name) for command in lab_cli.registered_commands}


@pytest.mark.parametrize("page", reference.PAGES, ids=lambda page: page.name)
def test_signatures_and_sentences_equal_those_of_the_code(page: Path):
    assert reference.ENTRY.search(read(page))
    assert reference.fill(read(page)) == read(page)
