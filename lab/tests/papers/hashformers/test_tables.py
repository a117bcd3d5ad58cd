import math

import pytest

from lab.papers.hashformers.layouts import (
    BASELINE,
    EMBEDDER,
    EQUAL,
    NAMES,
    PRINTED,
    name_trials,
)
from lab.papers.hashformers.tables import (
    make_overview,
    make_paper_tables,
    make_ratio_table,
    select_trials,
    sort_trials,
)
from lab.papers.layouts import Trials
from lab.papers.tables import Table
from lab.trials.results import Estimate, read_results

from .trials import LSH_PROJ, MIXING, OTHERS, write_f1, write_pair

#: What is trained, its name, and the paper's model that stands beside it.
PAIRS = [
    ("md5_emb", "MD Emb", "md5_emb_1k"),
    ("md5_pool", "MD Pool", "md5_pool"),
    ("md5_add", "MD Add", "md5_add"),
    ("md5_proj", "MD Proj", "md5_proj"),
    ("lsh_emb", "LSH Emb", "lsh_emb_1k"),
    ("lsh_pool", "LSH Pool", "lsh_pool"),
    ("lsh_add", "LSH Add", "lsh_add"),
    ("lsh_proj", "LSH Proj", "lsh_proj"),
]


def get_row(table: Table, *stub: str):
    (row,) = [row for row in table.rows if row.stub == stub]
    return row.cells


def test_the_papers_tables_have_all_that_it_prints_and_nothing_of_ours():
    tables = make_paper_tables()
    cells = {
        number: [cell for row in table.rows for cell in row.cells.values()]
        for number, table in tables.items()
    }
    assert {number: len(each) for number, each in cells.items()} == {
        1: 14 * 9,
        2: 12 * 14,
        3: 7 * 6,
    }
    n_printed = {
        number: sum(bool(c.printed) for c in each) for number, each in cells.items()
    }
    assert n_printed == {1: 14 * 9, 2: 12 * 14, 3: 7 * 6 - 2 - 3 * 2}
    assert not any(cell.ours for each in cells.values() for cell in each)
    rows = [row for table in tables.values() for row in table.rows]
    assert not any(row.has_ours for row in rows)
    cells_of_proj = get_row(tables[2], "HashFormers-LSH Proj")
    assert cells_of_proj["embedding"].printed == Estimate(mean=0.0991)
    assert get_row(tables[3], "HashFormers-Proj")["best_times"].printed.mean == 2.6


@pytest.mark.parametrize(("variant", "name", "key"), PAIRS)
def test_trials_have_the_name_and_the_figures_of_their_pair(
    variant, name, key, tmp_path
):
    trials = Trials(EMBEDDER, variant)
    assert name_trials(trials) == NAMES[trials] == name
    assert PRINTED[trials] == key
    write_f1(tmp_path, "conll2002_es", trials, [0.5])
    cells = get_row(make_ratio_table(read_results(tmp_path)), "CoNLL es", name)
    printed = get_row(make_paper_tables()[2], *_name_model(key))
    assert cells["all"].printed == printed["average"].printed
    for column in ("pcr_all", "pcr_emb", "poep"):
        assert cells[column].printed == printed[column].printed
    for column in ("seen", "unseen", "tables", "pcr_tables", "speed"):
        assert cells[column].printed is None


def _name_model(key: str) -> tuple[str]:
    from lab.papers.hashformers.layouts import MODELS

    return (MODELS[key],)


def test_trials_are_set_beside_the_baseline(tmp_path):
    write_pair(tmp_path)
    table = make_ratio_table(read_results(tmp_path))
    assert [row.stub for row in table.rows] == [
        ("WNUT 2017", "Hash embedding"),
        ("WNUT 2017", "LSH Proj"),
    ]
    ours = {
        key: cell.ours for key, cell in get_row(table, "WNUT 2017", "LSH Proj").items()
    }
    # 0.4 ± 0 by 0.5 ± 0.1
    ratio = Estimate(mean=0.8, deviation=pytest.approx(0.8 * 0.1 / 0.5), n=2)
    assert ours.pop("all") == ours.pop("unseen") == ratio
    assert ours.pop("seen") is None
    baseline, own = 320 + MIXING, 20 + MIXING
    assert {key: figure.mean for key, figure in ours.items()} == {
        "tables": 20,
        "pcr_all": 1 - (own + OTHERS) / (baseline + OTHERS),
        "pcr_emb": 1 - own / baseline,
        "pcr_tables": 1 - 20 / 320,
        "poep": own / (own + OTHERS),
        "speed": 1.5,
    }
    assert set(ours) | {"all", "seen", "unseen"} == {c.key for c in table.columns}


def test_nothing_is_marked(tmp_path):
    write_pair(tmp_path)
    table = make_ratio_table(read_results(tmp_path))
    assert not any(cell.differs for row in table.rows for cell in row.cells.values())


def test_the_baseline_keeps_all_of_itself(tmp_path):
    write_pair(tmp_path)
    table = make_ratio_table(read_results(tmp_path))
    cells = get_row(table, "WNUT 2017", "Hash embedding")
    # without a deviation, whatever its seeds
    assert cells["all"].ours == Estimate(mean=1)
    assert cells["pcr_all"].ours == cells["pcr_tables"].ours == Estimate(mean=0)
    assert cells["speed"].ours == Estimate(mean=1)
    assert cells["poep"].ours is not None
    assert all(cell.printed is None for cell in cells.values())


@pytest.mark.parametrize("baseline", [None, [0.0]])
def test_without_a_baseline_there_is_no_retention(baseline, tmp_path):
    if baseline is not None:
        write_f1(tmp_path, "wnut17", BASELINE, baseline)
    write_f1(tmp_path, "wnut17", LSH_PROJ, [0.5])
    table = make_ratio_table(read_results(tmp_path))
    cells = get_row(table, "WNUT 2017", "LSH Proj")
    assert cells["all"].ours is None
    assert cells["all"].printed is not None
    assert cells["poep"].ours is not None
    assert (cells["pcr_all"].ours is None) == (baseline is None)


def test_one_seed_has_a_retention_without_a_deviation(tmp_path):
    write_f1(tmp_path, "wnut17", BASELINE, [0.25, 0.75])
    write_f1(tmp_path, "wnut17", LSH_PROJ, [0.25])
    table = make_ratio_table(read_results(tmp_path))
    cells = get_row(table, "WNUT 2017", "LSH Proj")
    assert cells["all"].ours == Estimate(mean=0.5, n=1)


def test_what_earlier_trials_have_not_recorded_is_no_ratio(tmp_path):
    write_f1(tmp_path, "wnut17", BASELINE, [0.5], is_early=True)
    write_f1(tmp_path, "wnut17", LSH_PROJ, [0.5])
    table = make_ratio_table(read_results(tmp_path))
    cells = get_row(table, "WNUT 2017", "LSH Proj")
    assert cells["pcr_emb"].ours == Estimate(mean=0)
    for key in ("pcr_all", "pcr_tables", "speed"):
        assert cells[key].ours is None
    cells = get_row(table, "WNUT 2017", "Hash embedding")
    assert cells["tables"].ours is cells["poep"].ours is None


def test_a_seed_that_was_run_early_does_not_hide_what_others_recorded(tmp_path):
    write_pair(tmp_path)
    write_f1(tmp_path, "wnut17", LSH_PROJ, [0.4], tables=20, is_early=True)
    table = make_ratio_table(read_results(tmp_path))
    cells = get_row(table, "WNUT 2017", "LSH Proj")
    assert math.isclose(cells["pcr_tables"].ours.mean, 1 - 20 / 320)
    # but not half of the speeds
    assert cells["speed"].ours is None


def test_trials_are_chosen_and_in_order(tmp_path):
    own = Trials(EMBEDDER, "mine")
    for dataset in ("mine", "conll2002_es", "wnut17"):
        for trials in (own, LSH_PROJ, EQUAL, BASELINE):
            write_f1(tmp_path, dataset, trials, [0.5])
        write_f1(tmp_path, dataset, Trials("multi_embed", "default"), [0.5])
        write_f1(tmp_path, dataset, Trials(BASELINE.embedder, "hashes2"), [0.5])
    write_f1(tmp_path, "anem", BASELINE, [0.5])
    groups = select_trials(read_results(tmp_path))
    names = ["Hash embedding", "Hash embedding of Proj's size", "LSH Proj", "mine"]
    expected = [
        (dataset, name)
        for dataset in ("WNUT 2017", "CoNLL es", "mine")
        for name in names
    ]
    assert [row.stub for row in make_ratio_table(groups).rows] == expected
    overview = make_overview(groups)
    assert [row.stub for row in overview.rows][:4] == [
        ("WNUT 2017", *trials) for trials in (BASELINE, EQUAL, LSH_PROJ, own)
    ]
    assert len(sort_trials(groups)) == len(overview.rows) == 12


def test_of_no_trials_there_are_tables_without_rows():
    assert make_ratio_table({}).rows == make_overview({}).rows == []
