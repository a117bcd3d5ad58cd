"""What every run of the tests does, those of the package and those of the lab."""

from tests.left_out import (  # noqa: F401 pytest finds its hooks here
    pytest_collection_modifyitems,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
