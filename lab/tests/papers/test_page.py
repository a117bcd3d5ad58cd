"""The pages of all papers, made of our own results."""

from pathlib import Path

import pytest

from lab.papers import PAPERS
from lab.papers.page import make_page, write_page
from lab.tests.recorded import write_categories, write_result
from tests.conftest import ROOT

PAGES = Path(__file__).parent / "pages"


def read_tables(page: Path) -> list[str]:
    """Headings and rows of tables."""
    lines = page.read_text(encoding="utf8").splitlines()
    return [line for line in lines if line.startswith(("#", "|"))]


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_are_filled_from_the_results(paper, tmp_path, monkeypatch):
    """As `python -m lab report lab/results --paper … -o …` once filled them."""
    monkeypatch.chdir(tmp_path)  # where no corpora are
    page = make_page(ROOT / "lab" / "results", paper)
    write_page(page, tmp_path / "page.md")
    tables = PAGES / f"{paper}.md"
    assert read_tables(tmp_path / "page.md") == read_tables(tables)
    assert tables.read_text(encoding="utf8").startswith(f"{page.differences}\n")


@pytest.mark.parametrize("paper", PAPERS)
def test_a_folder_of_another_task_is_refused(paper, tmp_path):
    is_text = paper == "hash-embeddings"
    write = write_result if is_text else write_categories
    write(tmp_path, "anem", "x", "default")
    with pytest.raises(FileNotFoundError, match=f"'{paper}' is about.* --paper "):
        make_page(tmp_path, paper)
