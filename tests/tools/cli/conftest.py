"""Where commands are run."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """Have a current folder of its own for each test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
