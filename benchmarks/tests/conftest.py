"""Fixtures of the package's tests that those of the benchmarks share."""

from tests.conftest import instructions, quick, tiny_corpus  # noqa: F401 pytest finds its fixtures here
from tests.gpu.conftest import used  # noqa: F401
