"""The pages of all papers, made from lab/results."""

from pathlib import Path

import pytest

from lab.papers.page import PAPERS, make_page
from lab.tests.calling import call, check_failure, squeeze, succeed
from lab.tests.recorded import write_result, write_seeds
from tests.conftest import ROOT

PAGES = Path(__file__).parent / "pages"


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_are_filled_from_the_results(paper, tmp_path, monkeypatch):
    """The pages are the output of `python -m lab report lab/results --paper … -o …`."""
    monkeypatch.chdir(tmp_path)  # a folder without corpora
    page = make_page(ROOT / "lab" / "results", paper)
    lines = [line for line in page.text.split("\n") if line.startswith(("#", "|"))]
    differences, _, *expected = (PAGES / f"{paper}.md").read_text("utf8").splitlines()
    assert (page.differences, lines) == (differences, expected)


@pytest.mark.parametrize("paper", PAPERS)
def test_results_of_another_task_are_refused(paper, tmp_path):
    scores = {"ents_f": 1} if paper == "hash-embeddings" else {"cats_acc": 1}
    write_result(tmp_path, "anem", "x", scores=scores)
    with pytest.raises(FileNotFoundError, match=f"the task of '{paper}'.* --paper"):
        make_page(tmp_path, paper)


def test_the_command_writes_a_page_and_prints_a_summary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_seeds(tmp_path / "metrics", "multi_embed", [0.3, 0.3])
    output = tmp_path / "report.md"
    said = squeeze(succeed("report", "metrics", "-o", output).output)
    assert f"Wrote {output} from 2 results" in said
    # P, R and F1 in tables 9 and 11, F1 on dev in table 15
    assert "7 of 7 scores differ from the report." in said
    assert "None of the report's corpora in 'corpus'" in said
    assert "30.0 ± 0.0" in output.read_text(encoding="utf8")
    wrong = call("report", "metrics", "-o", output, "--paper", "bert")
    check_failure(wrong, "hashformers")
