"""docs/results.md, lab/trials.md, README's table, and their results in lab/results/."""

import pytest
from spacy.cli.init_config import init_config

from lab.pages import pairs, results, whole_texts
from lab.pages.page import fill, read_rows
from lab.trials.configs import find_config
from spacy_hashembeds.tools.config.configure import configure


def test_the_configs_of_the_main_table_are_those_of_the_commands():
    default, recommended = map(find_config, ("spacy_default", "recommended"))
    written = init_config(lang="en", pipeline=["ner"], silent=True).to_str()
    assert default.read_text(encoding="utf8") == written
    assert recommended.read_text(encoding="utf8") == configure(default).text


def test_the_tables_of_the_pages_are_those_of_the_trials(groups):
    measured = map(read_rows, (results.PAIRS, results.MISSPELLINGS))
    for pages in (
        results.make_tables(groups, *measured),
        whole_texts.make_tables(groups),
    ):
        for page, tables in pages.items():
            assert fill(page, tables) == page.read_text(encoding="utf8")


def test_the_p_values_of_the_page_are_those_of_the_counts(groups):
    assert pairs.compare_pairs(groups) == read_rows(results.PAIRS)


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        # from Wikipedia's "Holm-Bonferroni method", and R's p.adjust(…, "holm")
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.02, 0.9], [1.0, 0.06, 1.0]),
        ([], []),
    ],
)
def test_p_values_are_adjusted_as_by_holm(p_values, expected):
    assert pairs.adjust_p_values(p_values) == pytest.approx(expected)
