"""docs/whole-texts.md, with the trials of the grid `joined` behind it."""

from lab.pages import whole_texts as script
from lab.pages.page import fill


def test_the_tables_of_the_pages_are_those_of_the_trials(groups):
    for page, tables in script.make_tables(groups).items():
        assert fill(page, tables) == page.read_text(encoding="utf8")
