"""Fixtures shared by all tests of the lab."""

from tests.conftest import (  # noqa: F401 pytest finds its fixtures here
    contractions,
    data_dir,
    forked,
    full_device,
    no_contractions,
    one_round,
    prepare_real,
    project,
    tiny_corpus,
    trained_root,
)
