"""What a release says of itself, once, and what workflows run with which versions."""

import json
import re
from configparser import ConfigParser
from dataclasses import fields

import pytest
import srsly

import spacy_hashembeds
from spacy_hashembeds.acceleration.accelerate import Acceleration

from .conftest import ROOT, load_script


@pytest.fixture(scope="module")
def metadata():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    return setup["metadata"]


def test_the_version_stands_in_one_place_and_in_the_changelog(metadata):
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    latest = re.search(
        r"^## (\S+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$", changelog, re.M
    )
    assert latest is not None
    assert latest[1] == metadata["version"]
    others = ["CITATION.cff", "pyproject.toml", "release/universe.json", "setup.py"]
    for name in others:
        text = (ROOT / name).read_text(encoding="utf8")
        assert not re.search(rf"\b{re.escape(metadata['version'])}\b", text), name


def test_the_citation_is_of_this_package(metadata):
    citation = srsly.read_yaml(ROOT / "CITATION.cff")
    assert citation["title"] == metadata["name"]
    assert citation["abstract"] == metadata["description"]
    assert citation["license"] == metadata["license"]
    assert [author["name"] for author in citation["authors"]] == [metadata["author"]]
    assert len(citation["references"]) == 5


def test_the_universe_entry_is_of_this_package(metadata):
    entry = json.loads((ROOT / "release/universe.json").read_text(encoding="utf8"))
    assert entry["pip"] == entry["id"] == metadata["name"]
    assert entry["author"] == metadata["author"]
    source = load_script(ROOT / "setup.py").read_source(ROOT / "setup.cfg")
    github = source and source.removeprefix("https://github.com/")
    assert entry.get("github") == github, "put there what is in 'Source' of setup.cfg"
    code = "\n".join(entry["code_example"])
    compile(code, "code_example", "exec")
    (name,) = re.findall("from spacy_hashembeds import (.+)", code)
    assert name in spacy_hashembeds.__all__


def test_the_model_card_asks_for_what_accelerate_prints():
    card = (ROOT / "release/model-card.md").read_text(encoding="utf8")
    asked = set(re.findall(r"\[([a-z_]+)", card))
    assert {field.name for field in fields(Acceleration)} <= asked


# Workflows

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_each_python_and_the_oldest_requirements_have_a_session():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    pythons = re.findall(r"Python :: (3\.\d+)", setup["metadata"]["classifiers"])
    tests = srsly.read_yaml(ROOT / ".github/workflows/tests.yml")
    matrix = tests["jobs"]["versions"]["strategy"]["matrix"]["include"]
    sessions = {each["session"]: each["python"] for each in matrix}
    newest = {f"newest-{python}": python for python in pythons}
    assert sessions == {**newest, "oldest": pythons[0]}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_read_and_nothing_else(path):
    workflow = srsly.read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf8")
    for job in workflow["jobs"].values():
        # what publishes is off until somebody turns it on
        may = {"pages", "id-token"} if " && vars." in job.get("if", "") else set()
        assert job.get("permissions", {}).keys() <= may
        assert job["timeout-minutes"] <= 90
