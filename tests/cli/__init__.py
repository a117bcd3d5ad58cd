"""Tests of `spacy hashembeds …`."""

import pytest

# whose asserts are to say what was compared, too
pytest.register_assert_rewrite("tests.cli.running")
