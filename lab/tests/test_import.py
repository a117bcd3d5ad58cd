"""Imports where Python has less than here."""

import pytest

from tests.test_import import check_import_without_unix


@pytest.mark.parametrize(
    ("package", "module"), [("lab", "trials.processes"), ("benchmarks", "command")]
)
def test_every_module_can_be_imported_on_windows(package, module):
    check_import_without_unix(package, module)
