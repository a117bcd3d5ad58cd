"""The notebooks of docs/ run, and their outputs have the stored types."""

import json
import sys
from pathlib import Path

import pytest

from lab.pages.notebooks import NOTEBOOKS, run_notebook


def describe_outputs(notebook: dict) -> list[list[object]]:
    """Return the kinds of outputs of each cell."""
    return [
        [(output["output_type"], sorted(output.get("data", ()))) for output in outputs]
        for cell in notebook["cells"]
        if (outputs := cell.get("outputs")) is not None
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem
)
def test_cells_run(path: Path, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.path", [*sys.path])
    notebook = json.loads(path.read_text(encoding="utf8"))
    kept = describe_outputs(notebook)
    run_notebook(notebook)
    assert describe_outputs(notebook) == kept
    assert any(kept)
