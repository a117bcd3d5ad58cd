"""Imports where Python has less than here."""

from tests.test_import import check_import_without_unix


def test_every_module_of_the_lab_can_be_imported_on_windows():
    check_import_without_unix("lab", "trials.processes")
