"""What stops a release, what it leaves, and the files that go out with it."""

import json
import os
import re
import shutil
import subprocess
from configparser import ConfigParser
from dataclasses import fields
from datetime import date

import pytest
import srsly

import spacy_hashembeds
from spacy_hashembeds.acceleration.accelerate import Acceleration

from .conftest import ROOT, load_script

VERSION = "1.2.3"
#: In place of make: what `.ci/run` would test, and what would be built.
MAKE = """#!/bin/sh
echo "$@" >> "$MADE"
case "$1" in wheels) mkdir dist && cd dist && touch $BUILT ;; esac
exit "$MAKE_FAILS"
"""
WHEELS = [f"a-{VERSION}-cp{python}-cp{python}-linux.whl" for python in (39, 310)]
SDIST = f"a-{VERSION}.tar.gz"
METADATA = f"""[metadata]
version = {VERSION}
classifiers =
    Programming Language :: Python :: 3
    Programming Language :: Python :: 3.9
    Programming Language :: Python :: 3.10
"""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository that is ready for a release, and no make but ours."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    for name in ("run", "release"):
        (tmp_path / "clone/.ci").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / ".ci" / name, tmp_path / "clone/.ci")
    (tmp_path / "clone/setup.cfg").write_text(METADATA)
    (tmp_path / "clone/CHANGELOG.md").write_text(f"## {VERSION} ({date.today()})\n")
    (tmp_path / "clone/.gitignore").write_text("dist/\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/make").write_text(MAKE)
    (tmp_path / "bin/make").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("MADE", str(tmp_path / "made"))
    monkeypatch.setenv("MAKE_FAILS", "0")
    monkeypatch.setenv("BUILT", " ".join([*WHEELS, SDIST]))
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "us")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "us@example.org")
    run_git(tmp_path / "clone", "init", "--quiet")
    commit(tmp_path / "clone")
    return tmp_path / "clone"


def run_git(folder, *args):
    command = ["git", *args]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def commit(folder):
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", "all")


def release(clone):
    return subprocess.run(
        [clone / ".ci/release"], cwd=clone, capture_output=True, text=True, check=False
    )


def test_a_release_is_tested_built_and_tagged(clone):
    (clone / "dist").mkdir()
    (clone / "dist/old.whl").touch()
    result = release(clone)
    assert result.returncode == 0, result.stderr
    made = (clone.parent / "made").read_text().splitlines()
    assert [line.split()[0] for line in made] == [
        "lint",
        "test",
        "test-torch",
        "wheels",
    ]
    assert made[-1] == "wheels sdist FLAGS=--error-on-missing-interpreters"
    assert run_git(clone, "tag").split() == [f"v{VERSION}"]
    assert {path.name for path in (clone / "dist").iterdir()} == {*WHEELS, SDIST}


def refuse(clone, reason):
    result = release(clone)
    assert result.returncode == 1
    assert re.search(reason, result.stderr), result.stderr
    assert not (clone.parent / "made").exists()


def test_only_what_is_committed_is_released(clone):
    (clone / "new.py").touch()
    refuse(clone, "No release: commit or remove what 'git status' lists")


def test_a_version_is_released_once(clone):
    run_git(clone, "tag", f"v{VERSION}")
    refuse(clone, f"there is a tag v{VERSION}. Raise 'version' in setup.cfg")


@pytest.mark.parametrize(
    "day", ["unreleased", "2026-1-31", "2026-02-31", f"{date.today().year + 1}-01-01"]
)
def test_the_changelog_says_when_it_was_released(clone, day):
    (clone / "CHANGELOG.md").write_text(f"## {VERSION} ({day})\n")
    commit(clone)
    refuse(clone, rf"should have a line '## {VERSION} \(YYYY-MM-DD\)'")


def test_what_fails_is_not_tagged(clone, monkeypatch):
    monkeypatch.setenv("MAKE_FAILS", "1")
    assert release(clone).returncode != 0
    assert run_git(clone, "tag") == ""
    assert not (clone / "dist").exists()


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        (WHEELS[0], "there is no wheel for Python 3.9, which setup.cfg names"),
        (WHEELS[1], "there is no wheel for Python 3.10, which setup.cfg names"),
        (SDIST, "there is no sdist"),
    ],
)
def test_a_release_has_a_wheel_for_each_python_and_an_sdist(
    clone, monkeypatch, missing, reason
):
    built = [name for name in [*WHEELS, SDIST] if name != missing]
    monkeypatch.setenv("BUILT", " ".join(built))
    result = release(clone)
    assert (result.returncode, f"No release: {reason}" in result.stderr) == (1, True)
    assert run_git(clone, "tag") == ""
    assert not (clone / "dist").exists()


@pytest.mark.parametrize("target", ["wheels", "sdist"])
def test_nox_fails_where_a_python_is_missing(tmp_path, target):
    if shutil.which("make") is None:
        pytest.skip("needs make")
    nox = tmp_path / "bin/nox"
    nox.parent.mkdir()
    nox.write_text('#!/bin/sh\necho "$@"\n')
    nox.chmod(0o755)
    flag = "--error-on-missing-interpreters"
    command = ["make", "--silent", target, f"FLAGS={flag}", f"VENV={tmp_path}"]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["--session", target, flag]


# Said once


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
