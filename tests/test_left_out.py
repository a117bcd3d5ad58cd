"""What a run says and does of tests that it leaves out."""

import pytest

from . import left_out
from .conftest import ROOT

pytest_plugins = ["pytester"]

SETTINGS = f"[pytest]\naddopts = -ra\nmarkers = torch\npythonpath = {ROOT}"
TESTS = """
import pytest
from tests.left_out import NO_CORPORA

@pytest.mark.torch
def test_with_a_mark():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_in_its_course(n):
    pytest.skip(NO_CORPORA)

def test_that_runs():
    pass
"""
CORPORA = (
    "Tests left out: 2 (needs the real corpora): "
    "they run where SPACY_HASHEMBEDS_DATA names their folder"
)
TORCH = "Tests left out: 1 (needs PyTorch): `make test-torch` runs them"
WRONG = "CI should run them: needs PyTorch"


@pytest.fixture
def run(pytester, monkeypatch):
    pytester.makeini(SETTINGS)
    pytester.makeconftest("from tests.left_out import *")
    pytester.makepyfile(TESTS)

    def run_tests(*options: str, ci: str = "", torch: str | None = left_out.NO_TORCH):
        """Give the exit status, and the lines under pytest's own summary."""
        monkeypatch.setenv("CI", ci)
        monkeypatch.setitem(left_out.MARKS, "torch", torch)
        result = pytester.runpytest(*options)
        *lines, _ = "\n".join(result.outlines).rsplit("SKIPPED", 1)[1].splitlines()[1:]
        return result.ret, lines

    return run_tests


def test_the_last_lines_say_how_many_and_what_runs_them(run):
    assert run() == (0, [CORPORA, TORCH])


def test_nothing_is_said_of_what_has_run(run):
    assert run(torch=None) == (0, [CORPORA])


def test_ci_fails_where_it_leaves_out_what_it_could_run(run):
    assert run(ci="true") == (1, [CORPORA, TORCH, WRONG])
    assert run("-m", "not torch", ci="true") == (0, [CORPORA])


def test_processes_tell_what_they_left_out(run, pytester):
    path = pytester.makepyfile(
        test_other="import pytest\n\ndef test_it(): pytest.skip('no reason')"
    )
    lines = ["Tests left out: 1 (no reason)", "CI should run them: no reason"]
    assert run("-n", "1", path, ci="true") == (1, lines)
