import math

import pytest

from lab.papers.findings import make_overview, make_seed_table
from lab.trials.results import Estimate, read_results

from ..trials.test_results import write_result, write_seeds

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"


def test_the_overview_lists_all_trials_in_the_reports_order(tmp_path):
    for dataset, embedder, variant in (
        ("demo", HASH, "demo"),
        ("anem", LOOKUP, "default"),
        ("anem", "my_own", "default"),
        ("anem", HASH, "rows10"),
        ("anem", HASH, "default"),
        ("anem", FEWER, "default"),
        ("conll2002_es", HASH, "default"),
    ):
        write_result(tmp_path, dataset, embedder, variant)
    overview = make_overview(read_results(tmp_path))
    assert [row.stub for row in overview.rows] == [
        ("CoNLL es", HASH, "default"),
        ("AnEM", HASH, "default"),
        ("AnEM", HASH, "rows10"),
        ("AnEM", FEWER, "default"),
        ("AnEM", LOOKUP, "default"),
        ("AnEM", "my_own", "default"),
        ("demo", HASH, "demo"),
    ]


def test_variants_are_in_order_of_vectors_and_size(tmp_path):
    variants = ["default", "norm", "rows10", "rows20", "rows100"]
    variants += ["vectors", "norm_vectors", "rows100_vectors"]
    variants += ["floret", "rows10_floret", "fasttext"]
    for variant in sorted(variants):
        write_result(tmp_path, "wnut17", HASH, variant)
    overview = make_overview(read_results(tmp_path))
    assert [row.stub[2] for row in overview.rows] == variants


def test_the_overview_has_scores_seeds_and_sizes(tmp_path):
    for seed, f in enumerate((0.4, 0.5)):
        test = {"ents_f": f, "ents_seen_support": 0, "ents_unseen_f": 0.25}
        scores = {"test": test, "dev": {"ents_f": 0.9}}
        write_result(tmp_path, "anem", LOOKUP, "default", seed, scores)
    (row,) = make_overview(read_results(tmp_path)).rows
    cells = row.cells
    assert cells["all"].ours == Estimate(
        mean=pytest.approx(0.45), deviation=pytest.approx(0.05)
    )
    # tables 9 and 11
    assert cells["all"].printed.mean == 0.44
    assert not cells["all"].differs
    assert cells["unseen"].printed.mean == 0.23
    assert cells["seen"].ours is None
    assert cells["seen"].printed is None
    assert cells["seeds"].ours == Estimate(mean=2)
    assert cells["parameters"].ours == Estimate(mean=1000)
    assert cells["megabytes"].ours == Estimate(mean=2.5)


def test_seed_8_beside_seed_9(tmp_path):
    write_seeds(tmp_path, "anem", FEWER, "default", [0.50, 0.52, 0.54])
    write_seeds(tmp_path, "anem", FEWER, "seed9", [0.60, 0.61, 0.62])
    write_seeds(tmp_path, "wnut17", FEWER, "default", [0.2, 0.2])
    write_seeds(tmp_path, "wnut17", HASH, "seed9", [0.3])
    table = make_seed_table(read_results(tmp_path))
    assert [row.stub for row in table.rows] == [
        ("AnEM", "all"),
        ("AnEM", "seen"),
        ("AnEM", "unseen"),
    ]
    cells = table.rows[0].cells
    assert cells["seed8"].ours.mean == pytest.approx(0.52)
    assert cells["seed9"].ours.mean == pytest.approx(0.61)
    change = cells["change"].ours
    assert change.mean == pytest.approx(0.09)
    variance = 2 / 3 * 0.02**2 + 2 / 3 * 0.01**2
    assert change.deviation == pytest.approx(math.sqrt(variance))
    assert change.n == 3
    assert cells["change"].differs
    # equal for the other kinds
    assert not table.rows[1].cells["change"].differs
    assert table.rows[1].cells["change"].ours.mean == 0


def test_seed_8_beside_seed_9_with_one_seed_each(tmp_path):
    write_seeds(tmp_path, "anem", FEWER, "seed9", [0.6])
    change = make_seed_table(read_results(tmp_path)).rows[0].cells["change"]
    assert change.ours is None
    write_seeds(tmp_path, "anem", FEWER, "default", [0.5])
    change = make_seed_table(read_results(tmp_path)).rows[0].cells["change"]
    assert change.ours == Estimate(mean=pytest.approx(0.1), deviation=None, n=1)
    assert not change.differs


@pytest.mark.parametrize(("eight", "nine"), [(3, 2), (2, 3)])
def test_a_change_is_of_as_many_seeds_as_both_have(eight, nine, tmp_path):
    write_seeds(tmp_path, "anem", FEWER, "default", [0.5, 0.52, 0.54][:eight])
    write_seeds(tmp_path, "anem", FEWER, "seed9", [0.6, 0.61, 0.62][:nine])
    change = make_seed_table(read_results(tmp_path)).rows[0].cells["change"].ours
    assert change.n == 2


def test_tables_of_nothing_are_empty():
    assert make_overview({}).rows == []
    assert make_seed_table({}).rows == []
