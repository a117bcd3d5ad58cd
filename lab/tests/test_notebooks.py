"""The notebooks of docs/: their cells run as they stand, and show what is kept."""

import json
import sys
from pathlib import Path

import pytest

from lab.pages.notebooks import NOTEBOOKS, run_notebook


def describe_outputs(notebook: dict) -> list[list[object]]:
    """Describe what each cell shows, but for its numbers."""
    return [
        [(output["output_type"], sorted(output.get("data", ()))) for output in outputs]
        for cell in notebook["cells"]
        if (outputs := cell.get("outputs")) is not None
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem
)
def test_the_cells_run_as_they_stand(path: Path, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.path", [*sys.path])
    notebook = json.loads(path.read_text(encoding="utf8"))
    kept = describe_outputs(notebook)
    run_notebook(notebook)
    assert describe_outputs(notebook) == kept
    assert any(kept)
