"""Metadata of releases, and versions and permissions of workflows."""

import json
import re
from configparser import ConfigParser
from dataclasses import fields

import pytest
import srsly

import spacy_hashembeds
from spacy_hashembeds.acceleration.accelerate import AccelerationReport

from .conftest import ROOT, load_script

SETUP = ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf8")
METADATA = SETUP["metadata"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


def test_only_setup_cfg_and_the_changelog_have_the_version():
    heading = r"^## (\S+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$"
    latest, *_ = re.findall(heading, read("CHANGELOG.md"), re.M)
    assert latest == METADATA["version"]
    for name in ("CITATION.cff", "pyproject.toml", "release/universe.json", "setup.py"):
        assert not re.search(rf"\b{re.escape(latest)}\b", read(name)), name


def test_citation_and_universe_entry_match_setup_cfg():
    citation = srsly.read_yaml(ROOT / "CITATION.cff")
    assert citation["title"] == METADATA["name"]
    assert citation["abstract"] == METADATA["description"]
    assert citation["license"] == METADATA["license"]
    assert [author["name"] for author in citation["authors"]] == [METADATA["author"]]
    entry = json.loads(read("release/universe.json"))
    assert entry["pip"] == entry["id"] == METADATA["name"]
    assert entry["author"] == METADATA["author"]
    source = load_script(ROOT / "setup.py").read_source(ROOT / "setup.cfg")
    github = source and source.removeprefix("https://github.com/")
    assert entry.get("github") == github, "'github' should be 'Source' of setup.cfg"
    code = "\n".join(entry["code_example"])
    (name,) = re.findall("from spacy_hashembeds import (.+)", code)
    assert name in spacy_hashembeds.__all__


def test_the_model_card_has_all_fields_of_the_report():
    names = set(re.findall(r"\[([a-z_]+)", read("release/model-card.md")))
    assert {field.name for field in fields(AccelerationReport)} <= names


# Workflows

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_each_python_and_the_oldest_requirements_have_a_session():
    pythons = re.findall(r"Python :: (3\.\d+)", METADATA["classifiers"])
    tests = srsly.read_yaml(ROOT / ".github/workflows/tests.yml")
    matrix = tests["jobs"]["versions"]["strategy"]["matrix"]["include"]
    sessions = {each["session"]: each["python"] for each in matrix}
    newest = {f"newest-{python}": python for python in pythons}
    assert sessions == {**newest, "oldest": pythons[0]}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read(path):
    workflow = srsly.read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf8")
    for job in workflow["jobs"].values():
        # jobs that publish are off unless a variable enables them
        may = {"pages", "id-token"} if " && vars." in job.get("if", "") else set()
        assert job.get("permissions", {}).keys() <= may
        assert job["timeout-minutes"] <= 90
