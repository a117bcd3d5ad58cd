"""Every registered name: found by spaCy, documented and tested. Made from metadata."""

import inspect
import re
from functools import cache
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest
import spacy
from spacy.util import registry

from spacy_hashembeds import papers as papers_folder
from tests.configs import CONFIGS

from .conftest import ROOT

ENTRY_POINTS = list(distribution("spacy-hashembeds").entry_points)
# The group of commands is for spaCy's own use, that of embedders for ours.
REGISTERED = [
    entry_point
    for entry_point in ENTRY_POINTS
    if entry_point.group.startswith(("spacy_", "thinc_"))
    and entry_point.group not in ("spacy_cli", "spacy_hashembeds_embedders")
]
OTHERS = [each for each in ENTRY_POINTS if each not in REGISTERED]
OWN_PREFIX = "spacy-hashembeds."
# Registered names, but for those of factories, end in a version.
NAME = re.compile(r"[\w-]+(\.[\w-]+)*\.v\d+")


def get_id(entry_point: EntryPoint) -> str:
    return f"{entry_point.group}:{entry_point.name}"


def is_alias(entry_point: EntryPoint) -> bool:
    return entry_point.name.startswith("spacy.")


@cache
def read_sections(page: str = "reference.md") -> dict[str, str]:
    """The text below each heading."""
    text = (ROOT / "docs" / page).read_text(encoding="utf8")
    sections = re.split(r"^#+ ", text, flags=re.MULTILINE)
    return dict(section.split("\n", 1) for section in sections if section)


@cache
def read_tests() -> str:
    paths = (ROOT / "tests").rglob("test_*.py")
    return "\n".join(
        path.read_text(encoding="utf8") for path in paths if path != Path(__file__)
    )


@pytest.mark.parametrize("entry_point", OTHERS, ids=get_id)
def test_it_resolves(entry_point):
    assert entry_point.load() is not None


@pytest.mark.parametrize("entry_point", REGISTERED, ids=get_id)
def test_spacy_finds_it(entry_point):
    group = entry_point.group.split("_", 1)[1]
    if group == "factories":  # which spaCy loads when it makes a pipeline
        spacy.blank("xx")
    assert registry.get(group, entry_point.name) is entry_point.load()


@pytest.mark.parametrize("entry_point", REGISTERED, ids=get_id)
def test_it_has_docs_for_users_and_in_the_code(entry_point):
    sections = read_sections()
    if is_alias(entry_point):
        main = entry_point.name.replace("spacy.", OWN_PREFIX, 1)
        assert f"`{entry_point.name}`" in sections[f"`{main}`"]
    else:
        assert f"`{entry_point.name}`" in sections
    assert entry_point.load().__doc__


@pytest.mark.parametrize("entry_point", REGISTERED, ids=get_id)
def test_it_is_named_in_a_test(entry_point):
    function = entry_point.value.split(":")[1]
    names = rf"\b{function}\b|{re.escape(entry_point.name)}(?!\w)"
    assert re.search(names, read_tests())


@pytest.mark.parametrize("alias", list(filter(is_alias, REGISTERED)), ids=get_id)
def test_an_alias_is_the_same_function(alias):
    main = alias.name.replace("spacy.", OWN_PREFIX, 1)
    (entry_point,) = (e for e in REGISTERED if e.name == main)
    assert entry_point.group == alias.group
    assert entry_point.load() is inspect.unwrap(alias.load())


def test_the_reference_names_nothing_that_is_not_registered():
    headings = (heading.strip("`") for heading in read_sections())
    documented = {name for name in headings if NAME.fullmatch(name)}
    assert documented
    assert documented <= {entry_point.name for entry_point in REGISTERED}


def test_every_embedder_has_a_config_and_every_paper_a_page():
    names = {e.name for e in ENTRY_POINTS if e.group == "spacy_hashembeds_embedders"}
    assert names
    assert names <= {path.stem for path in CONFIGS.glob("*.cfg")}
    papers = {
        path.parent.name
        for path in Path(papers_folder.__file__).parent.glob("*/__init__.py")
    }
    assert papers
    pages = {path.stem.replace("-", "_") for path in (ROOT / "docs").glob("*.md")}
    assert papers <= pages
