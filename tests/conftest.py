"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real corpora: `SPACY_HASHEMBEDS_DATA`, else a folder beside the checkout."""
    path = Path(os.environ.get("SPACY_HASHEMBEDS_DATA", ROOT.parent / "shared/data"))
    if not path.is_dir():
        pytest.skip(f"real corpora not found: set SPACY_HASHEMBEDS_DATA (was: {path})")
    return path
