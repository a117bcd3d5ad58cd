"""The notebooks of docs/: their cells run as they stand, and hold no outputs."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def read_code(path: Path) -> list[dict]:
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_run_as_they_stand(path: Path, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.path", [*sys.path])
    namespace: dict[str, object] = {}
    for cell in read_code(path):
        exec("".join(cell["source"]), namespace)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_outputs_of_some_machine_are_saved(path: Path):
    assert not any(
        cell["outputs"] or cell["execution_count"] for cell in read_code(path)
    )
