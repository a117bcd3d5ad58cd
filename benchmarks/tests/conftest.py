"""Fixtures shared with the tests of the package."""

from tests.conftest import instructions, quick, tiny_corpus  # noqa: F401 pytest finds its fixtures here
from tests.gpu.conftest import used  # noqa: F401
