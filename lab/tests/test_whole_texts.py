"""docs/whole-texts.md, with the trials of the grid `joined` behind it."""

from types import SimpleNamespace

import pytest
from scipy.stats import ttest_ind

from lab.pages import whole_texts as script
from lab.pages.results import fill
from lab.trials.configs import locate_grid
from lab.trials.grid import read_grid
from lab.trials.results import TrialKey
from spacy_hashembeds.corpora.joined import LENGTHS


def test_the_tables_of_the_pages_are_those_of_the_trials(groups):
    for page, tables in script.make_tables(groups).items():
        assert fill(page, tables) == page.read_text(encoding="utf8")


def test_each_pipeline_is_drawn_for_each_corpus_that_it_was_trained_on(
    groups, monkeypatch
):
    drawn = []
    draw_panel = script._draw_panel
    monkeypatch.setattr(
        script,
        "_draw_panel",
        lambda panel, scores: (drawn.append(panel), draw_panel(panel, scores)),
    )
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


def test_the_grid_trains_what_the_page_shows_by_the_lengths_of_the_reader(
    groups,
):
    trials = read_grid(locate_grid("joined")).expand()
    shown = script.PIPELINES.keys() - {(script.CRF, "default")}
    assert shown <= {(t.embedder, t.variant) for t in trials}
    lengths = {"sentences": [1], "joined": [*LENGTHS]}
    for trial in trials:
        if trial.variant in lengths:
            assert trial.overrides["corpora.train.lengths"] == lengths[trial.variant]
        key = TrialKey(trial.dataset, trial.embedder, trial.variant)
        for result in groups.get(key, ()):
            assert result.overrides == trial.overrides


def test_differences_are_tested_by_welch():
    def make_trial(variant, *scores, seen=0.0):
        results = [
            SimpleNamespace(
                joined={"test": {10: {"ents_f": score, "ents_seen_f": seen}}}
            )
            for score in scores
        ]
        return TrialKey("anem", script.HASH, variant), results

    first, second = (0.5, 0.52, 0.54), (0.4, 0.43, 0.43, 0.48)
    trials = ((script.HASH, "joined"), (script.HASH, "sentences"))
    groups = dict([make_trial("joined", *first), make_trial("sentences", *second)])
    p_value = ttest_ind(first, second, equal_var=False).pvalue
    found = script._test(groups, "anem", trials, 10, "all")
    assert found == pytest.approx((0.085, p_value))
    assert script._test(groups, "wnut17", trials, 10, "all") is None
    # no entity is seen: the unseen ones are all, and one test is enough
    assert script._test(groups, "anem", trials, 10, "seen") is None
    assert script._test(groups, "anem", trials, 10, "unseen") is None
    groups |= dict([make_trial("joined", 0.5, 0.52, seen=0.7)])
    groups |= dict([make_trial("sentences", 0.4, 0.43, seen=0.6)])
    difference, _ = script._test(groups, "anem", trials, 10, "all")
    assert difference == pytest.approx(0.095)
