"""What runs elsewhere: with which versions, and what it may do."""

import re
from configparser import ConfigParser

import pytest
import srsly

from .conftest import ROOT

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
