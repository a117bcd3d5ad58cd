"""Hooks of pytest that all test suites share."""

from tests.left_out import (  # noqa: F401 pytest finds its hooks here
    pytest_collection_modifyitems,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
