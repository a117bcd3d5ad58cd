"""What runs elsewhere: it calls what a contributor calls here."""

import re
import shlex
from collections.abc import Iterator
from configparser import ConfigParser
from typing import Any

import pytest
import srsly

from .conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def read(name: str) -> dict[str, Any]:
    return srsly.read_yaml(ROOT / f".github/workflows/{name}.yml")


def find_calls(script: str) -> Iterator[tuple[str, str]]:
    """Find the targets of each `make`, and the flags that it hands on."""
    for line in re.findall(r"\bmake .+", script):
        words = shlex.split(line.partition("&&")[0])[1:]
        flags = {word.partition("=")[2] for word in words if word.startswith("FLAGS=")}
        for word in words:
            if re.fullmatch(r"[\w-]+", word):
                yield word, " ".join(flags)


def find_calls_of(workflow: dict[str, Any]) -> set[tuple[str, str]]:
    steps = (step for job in workflow["jobs"].values() for step in job["steps"])
    return {call for step in steps for call in find_calls(step.get("run", ""))}


@pytest.fixture(scope="module")
def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    found = set(re.findall(r"^([\w-]+):(?!=)", makefile, re.M))
    listed = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)", makefile, re.M)
    assert listed is not None
    assert set(listed[1].replace("\\", "").split()) == found
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_workflows_make_is_there(path, targets):
    calls = {target for target, _ in find_calls_of(srsly.read_yaml(path))}
    assert calls <= targets


@pytest.mark.parametrize("name", ["run", "release"])
def test_what_ci_makes_is_there(name, targets):
    calls = {target for target, _ in find_calls((ROOT / ".ci" / name).read_text())}
    assert calls
    assert calls <= targets


def test_a_push_runs_what_ci_runs():
    calls = set(find_calls((ROOT / ".ci/run").read_text(encoding="utf8")))
    workflows = map(srsly.read_yaml, WORKFLOWS)
    pushed = [each for each in workflows if "pull_request" in each["on"]]
    assert len(calls) >= 4
    assert set().union(*map(find_calls_of, pushed)) == {*calls, ("test-all", "")}


def test_each_python_and_the_oldest_requirements_have_a_session():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    pythons = re.findall(r"Python :: (3\.\d+)", setup["metadata"]["classifiers"])
    matrix = read("tests")["jobs"]["versions"]["strategy"]["matrix"]["include"]
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
