"""docs/results.md and docs/trials.md, with the trials behind them in lab/results/."""

from importlib import import_module

from lab.pages import results as script
from lab.pages.page import fill, read_measured
from lab.papers.page import make_page, write_page
from lab.trials.results import select_task
from spacy_hashembeds.tools.evaluate.sources import NER
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "results.md"
FOLDER = ROOT / "lab" / "results"


def test_the_tables_of_the_pages_are_those_of_the_trials(groups):
    measured = map(read_measured, (script.PAIRS, script.MISSPELLINGS))
    for page, tables in script.make_tables(groups, *measured).items():
        assert fill(page, tables) == page.read_text(encoding="utf8")


def test_the_p_values_of_the_page_are_those_of_the_counts(groups):
    pairs = import_module("lab.pages.pairs")
    assert pairs.compare_pairs(groups) == read_measured(script.PAIRS)


def test_the_report_is_filled_from_them(groups, tmp_path):
    report = make_page(FOLDER)
    write_page(report, tmp_path / "report.md")
    assert report.n_results == sum(map(len, select_task(groups, NER).values()))
    assert "CoNLL nl" in (tmp_path / "report.md").read_text(encoding="utf8")
