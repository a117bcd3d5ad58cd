from functools import partial
from pathlib import Path

import pytest

from ..calling import succeed
from ..recorded import write_seeds


@pytest.fixture
def results(tmp_path) -> Path:
    write_seeds(tmp_path / "metrics", "anem", "multi_embed", "default", [0.3, 0.3])
    return tmp_path / "metrics"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """A current folder without corpora."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


run = partial(succeed, "report")


def test_it_writes_a_page_and_says_what_is_in_it_and_what_is_not(results, tmp_path):
    output = tmp_path / "report.md"
    result = run(results, "-o", output)
    assert f"Wrote {output} from 2 results" in " ".join(result.output.split())
    # P, R and F1 in tables 9 and 11, F1 on dev in table 15
    said = " ".join(result.output.split())
    assert "7 of 7 scores differ from the report." in said
    assert "None of the report's corpora in 'corpus'" in said
    assert "30.0 ± 0.0" in output.read_text(encoding="utf8")
