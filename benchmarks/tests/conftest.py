"""Fixtures of the package's tests that those of the benchmarks share."""

from tests.conftest import (  # noqa: F401 pytest finds its fixtures here
    cached_entry_points,
    instructions,
    no_contractions,
    one_round,
    tiny_corpus,
)
from tests.gpu.conftest import used  # noqa: F401
