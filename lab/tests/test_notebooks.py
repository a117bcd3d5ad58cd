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


def test_what_is_printed_and_what_comes_last_is_shown():
    cells = [
        {"cell_type": "markdown", "source": ["# A title"]},
        {"cell_type": "code", "source": ["x = 1\n", "print('\\x1b[31mred')"]},
        {"cell_type": "code", "source": ["x + 1"]},
        {"cell_type": "code", "source": ["x = 3"]},
    ]
    run_notebook({"cells": cells})
    _, printed, last, none = cells
    assert [output["text"] for output in printed["outputs"]] == [["red\n"]]
    assert [output["data"] for output in last["outputs"]] == [{"text/plain": ["2"]}]
    assert none["outputs"] == []
    assert [cell.get("execution_count") for cell in cells] == [None, 1, 2, 3]
