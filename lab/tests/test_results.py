"""docs/results.md, lab/trials.md, README's table, and their results in lab/results/."""

import numpy as np
import pytest
from spacy.cli.init_config import init_config

from lab.pages import pairs, results, whole_texts
from lab.pages.page import fill, read_rows
from lab.trials.configs import find_config
from spacy_hashembeds.tools.config.configure import configure
from spacy_hashembeds.tools.evaluate.bootstrap import Draws, compare_scores


def test_configs_of_the_main_table_equal_the_output_of_commands():
    default, recommended = map(find_config, ("spacy_default", "recommended"))
    written = init_config(lang="en", pipeline=["ner"], silent=True).to_str()
    assert default.read_text(encoding="utf8") == written
    assert recommended.read_text(encoding="utf8") == configure(default).text


def test_pages_have_the_tables_of_the_trials(groups):
    measured = map(read_rows, (results.PAIRS, results.MISSPELLINGS))
    for pages in (
        results.make_tables(groups, *measured),
        whole_texts.make_tables(groups),
    ):
        for page, tables in pages.items():
            assert fill(page, tables) == page.read_text(encoding="utf8")


def test_differences_follow_from_counts(groups):
    compared = pairs.compare_pairs(groups)
    assert compared == read_rows(results.PAIRS)
    kinds = [set(filter(pair["differences"].get, pairs.KINDS)) for pair in compared]
    assert kinds.count({"all"}) > 5, "all entities of WNUT 2017 are unseen"
    assert kinds.count({*pairs.KINDS}) > 20
    single = {key: results[:1] for key, results in groups.items()}
    assert pairs.compare_pairs(single) == [], "the deviation over seeds is unknown"


def test_intervals_over_documents_equal_the_bootstrap():
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(0, 4, size=(2, 3, 300, 3, 3))
    found = pairs.compare(ours, theirs, seeded=np.zeros(3), n_free=8)
    sums = ours.sum(axis=0), theirs.sum(axis=0)
    for each, other in zip(found, compare_scores(*sums, Draws(4000, 0)), strict=True):
        low, high = other["f"]["interval"]
        assert each["difference"] == pytest.approx(other["f"]["difference"], abs=1e-3)
        assert each["half_width"] == pytest.approx((high - low) / 2, rel=0.15)


def test_intervals_include_the_variance_over_seeds():
    counts = np.ones((2, 50, 3, 3), dtype="int32")
    (same, *_), (other, *_) = (
        pairs.compare(counts, counts, seeded=np.full(3, variance), n_free=8)
        for variance in (0.0, 0.01)
    )
    assert (same["half_width"], same["p_value"]) == (0, 1)
    assert other["half_width"] == pytest.approx(2.306 * 0.1, abs=1e-3)  # Student's t


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        # from Wikipedia's "Holm-Bonferroni method", and R's p.adjust(…, "holm")
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.02, 0.9], [1.0, 0.06, 1.0]),
        ([], []),
    ],
)
def test_p_values_equal_holms(p_values, expected):
    assert pairs.adjust_p_values(p_values) == pytest.approx(expected)
