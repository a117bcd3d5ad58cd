"""Fixtures of tests of commands."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """Run each test in a new current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
