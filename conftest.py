"""Hooks and fixtures of pytest that all test suites share."""

from collections.abc import Iterator

import pytest

from spacy_hashembeds.acceleration.blas import keeping_ops
from tests.left_out import (  # noqa: F401 pytest finds its hooks here
    pytest_collection_modifyitems,
    pytest_sessionfinish,
    pytest_terminal_summary,
)


@pytest.fixture(autouse=True)
def restored_ops() -> Iterator[None]:
    """Restore Thinc's current ops after each test."""
    with keeping_ops():
        yield
