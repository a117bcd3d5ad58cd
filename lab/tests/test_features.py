"""docs/features.md, its results, and the command that makes them."""

import pytest

from lab import features
from lab.pages import features as page
from lab.pages.page import fill


def test_the_page_has_the_table_of_the_results():
    tables = {"features": page.make_table(page.read_trials())}
    assert fill(page.PAGE, tables) == page.PAGE.read_text(encoding="utf8")


@pytest.mark.slow
def test_a_trial_is_scored_and_added(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["", "headings", "layout", "--max-steps", "201"])
    features.main()
    (trial,) = page.read_trials()
    assert (trial["dataset"], trial["setting"]) == ("headings", "layout")
    assert trial["test"]["ents_f"] > 99
