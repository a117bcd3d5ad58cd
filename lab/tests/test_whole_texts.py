"""docs/whole-texts.md, with the trials of the grid `joined` behind it."""

from importlib import import_module
from types import ModuleType

import pytest

from lab.trials.configs import locate_grid
from lab.trials.grid import read_grid
from lab.trials.results import TrialKey, read_results
from spacy_hashembeds.corpora.joined import LENGTHS
from tests.conftest import ROOT

FOLDER = ROOT / "lab" / "results"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that fills the page and draws its picture."""
    return import_module("lab.pages.whole_texts")


def test_the_table_of_the_page_is_that_of_the_trials(script):
    page = script.PAGE.read_text(encoding="utf8")
    table = script.make_table(read_results(FOLDER))
    assert script.fill(page, {"whole texts": table}) == page


def test_each_pipeline_is_drawn_for_each_corpus_that_it_was_trained_on(
    script, monkeypatch
):
    drawn = []
    draw_panel = script._draw_panel
    monkeypatch.setattr(
        script,
        "_draw_panel",
        lambda panel, scores: (drawn.append(panel), draw_panel(panel, scores)),
    )
    groups = read_results(FOLDER)
    assert script.draw(groups).startswith(b"\x89PNG")
    found = {
        script.CORPORA[dataset]: set(scores)
        for dataset in script.CORPORA
        if (scores := script.find_scores(groups, dataset))
    }
    assert {
        panel.get_title(loc="left"): {line.get_label() for line in panel.lines}
        for panel in drawn
    } == found
    # a point is as high in each
    heights = [top - bottom for bottom, top in (panel.get_ylim() for panel in drawn)]
    assert heights == pytest.approx(heights[:1] * len(heights))


def test_the_grid_trains_what_the_page_shows_by_the_lengths_of_the_reader(script):
    trials = read_grid(locate_grid("joined")).expand()
    assert {(t.embedder, t.variant) for t in trials} == {*script.PIPELINES}
    lengths = {(t.variant, *t.overrides["corpora.train.lengths"]) for t in trials}
    assert lengths == {("sentences", 1), ("joined", *LENGTHS)}


def test_trials_of_the_page_were_trained_as_the_grid_says(script):
    grid = {
        TrialKey(t.dataset, t.embedder, t.variant): t.overrides
        for t in read_grid(locate_grid("joined")).expand()
    }
    groups = read_results(FOLDER)
    found = [groups[key] for key in grid.keys() & groups.keys()]
    assert found
    for results in found:
        for result in results:
            assert result.overrides == grid[result.key]
