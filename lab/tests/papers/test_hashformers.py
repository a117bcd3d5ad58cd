"""Printed figures, beside our formulas, and our trials."""

import math
from pathlib import Path

import pytest

from lab.papers.filling import Measured
from lab.papers.hashformers import (
    BASELINE,
    make_count_table,
    make_hyperparameter_tables,
    make_ratio_table,
    select_trials,
)
from lab.papers.paper import read_paper
from lab.papers.tables import Table
from lab.trials import configs
from lab.trials.ratios import compute_ratios
from lab.trials.results import Estimate, read_results

from .trials import MIXING, OTHERS, get_row, write_f1

PAPER = read_paper("hashformers")
EMBEDDER, LSH_PROJ = "hash_former_embed", "hash_former_embed/lsh_proj"
NONE = "\N{EN DASH}"

AVERAGE = "average"

#: Half of the last place of what the paper prints of scores and ratios.
HALF_SHARE = 0.0005

#: Where a printed figure is not what the printed inputs give, however these are
#: rounded, and what they give.
UNEXPLAINED = {
    (2, f"{hasher}_{key}", "poep"): 0.7972 / 86.8
    for hasher in ("md5", "lsh")
    for key in ("emb_1k", "pool")
}


def read(table: int, row: str, column: str) -> float:
    printed = PAPER.get_printed(str(table), row, column)
    assert printed is not None, (table, row, column)
    return printed.mean


@pytest.mark.parametrize("model", list(PAPER.models)[2:14])
def test_our_ratios_are_the_papers(model):
    baseline, ours = (
        {
            "score": read(1, scored, AVERAGE),
            "pipeline_parameters": round(read(2, sized, "pipeline") * 1e6),
            "embedding_parameters": round(read(2, sized, "embedding") * 1e6),
            "mixing_parameters": 0,
        }
        for scored, sized in (("bert_mlm", "md5_emb_50k"), (model, model))
    )
    ratios = compute_ratios(ours, baseline)
    printed = {
        "prr": read(2, model, AVERAGE),
        **{key: read(2, model, key) for key in ("pcr_all", "pcr_emb", "poep")},
    }
    if (2, model, "poep") in UNEXPLAINED:
        assert ratios["poep"] == pytest.approx(UNEXPLAINED[2, model, "poep"])
        del printed["poep"]
    for key, share in printed.items():
        assert ratios[key] == pytest.approx(share, abs=HALF_SHARE + 1e-9)
    assert ratios["pcr_tables"] == ratios["pcr_emb"]


def test_counts_by_formula_stand_beside_those_printed():
    assert [(row.stub[0], *row.stub[2:]) for row in make_count_table(PAPER).rows] == [
        # the public code's 50,260 rows are among those, but not 50,000
        ("BERT", "50,000", "38,400,000", "38.6M", "50,196 to 50,325"),
        ("CANINE-C", "16,000", "12,288,000", "12.3M", "15,951 to 16,080"),
        ("ProFormer", "420", "322,560", "322.6K", "420"),
        ("Emb (50K)", "50,000", "38,400,000", "38.6M", "50,196 to 50,325"),
        ("Emb (1K)", "1,000", "768,000", "797.2K", "1,038"),
        ("Pool", "1,037", "796,416", "797.2K", "1,038"),
        ("Add", "256", "196,608", "197.4K", "257"),
        ("Proj", "128", "98,304", "99.1K", "129"),
    ]


def write_pair(root: Path) -> None:
    """Write results of the baseline, and of LSH and Proj."""
    write_f1(root, "wnut17", BASELINE, [0.4, 0.6])
    fast = {"tables": 20, "words_per_second": 1500}
    write_f1(root, "wnut17", LSH_PROJ, [0.4, 0.4], **fast)


def make_ratios(root: Path) -> Table:
    return make_ratio_table(PAPER, Measured(groups=read_results(root)))


@pytest.mark.parametrize(
    ("variant", "name", "key"),
    [("md5_emb", "MD Emb", "md5_emb_1k"), ("lsh_pool", "LSH Pool", "lsh_pool")],
)
def test_trials_have_the_name_and_the_figures_of_their_pair(
    variant, name, key, tmp_path
):
    write_f1(tmp_path, "conll2002_es", f"{EMBEDDER}/{variant}", [0.5])
    cells = get_row(make_ratios(tmp_path), "CoNLL es", name)
    for column in ("all", "pcr_all", "pcr_emb", "poep"):
        printed = read(2, key, "average" if column == "all" else column)
        assert cells[column].printed == Estimate(mean=printed)
    for column in ("seen", "unseen", "tables", "pcr_tables", "speed"):
        assert cells[column].printed is None


def test_trials_are_set_beside_the_baseline(tmp_path):
    write_pair(tmp_path)
    table = make_ratios(tmp_path)
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


def test_the_baseline_keeps_all_of_itself(tmp_path):
    write_pair(tmp_path)
    table = make_ratios(tmp_path)
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
    table = make_ratios(tmp_path)
    cells = get_row(table, "WNUT 2017", "LSH Proj")
    assert cells["all"].ours is None
    assert cells["all"].printed is not None
    assert cells["poep"].ours is not None
    assert (cells["pcr_all"].ours is None) == (baseline is None)


def test_a_seed_that_was_run_early_does_not_hide_what_others_recorded(tmp_path):
    write_pair(tmp_path)
    write_f1(tmp_path, "wnut17", LSH_PROJ, [0.4], tables=20, is_early=True)
    table = make_ratios(tmp_path)
    cells = get_row(table, "WNUT 2017", "LSH Proj")
    assert math.isclose(cells["pcr_tables"].ours.mean, 1 - 20 / 320)
    # but not half of the speeds
    assert cells["speed"].ours is None


def test_trials_are_chosen_and_in_order(tmp_path):
    equal, own = "multi_fewer_hash_embed/equal_to_proj", f"{EMBEDDER}/mine"
    for dataset in ("mine", "conll2002_es", "wnut17"):
        others = ("multi_embed/default", "multi_fewer_hash_embed/hashes2")
        for trials in (own, LSH_PROJ, equal, BASELINE, *others):
            write_f1(tmp_path, dataset, trials, [0.5])
    write_f1(tmp_path, "anem", BASELINE, [0.5])
    groups = select_trials(PAPER, read_results(tmp_path), {})
    table = make_ratio_table(PAPER, Measured(groups=groups))
    names = ["Hash embedding", "Hash embedding of Proj's size", "LSH Proj", "mine"]
    assert [row.stub for row in table.rows] == [
        (dataset, name)
        for dataset in ("WNUT 2017", "CoNLL es", "mine")
        for name in names
    ]


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A current folder that has no such config, nor has the package."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    monkeypatch.setattr(configs, "CONFIGS", tmp_path / "configs")
    return tmp_path


def read_rows(number: int) -> dict[str, tuple[str, str, str]]:
    (table,) = [t for t in make_hyperparameter_tables(PAPER) if t.number == number]
    return {row.stub[0]: row.stub[1:] for row in table.rows}


def test_the_papers_stand_beside_those_of_the_config():
    rows = read_rows(5)
    ours = [ours for _, ours, _ in rows.values()]
    numbers = ["5", "32", "1e-06", "0.9", "0.999", "3e-05", "76", "0", "0.1", "0.1"]
    schedule = "initial_rate = 3e-05, warmup_steps = 76, total_steps = 1270"
    assert ours[:6] + ours[7:11] == numbers
    assert ours[6] == f"warmup_linear.v1 ({schedule})"
    assert rows["Adam ε"] == ("1e-6", "1e-06", "training.optimizer.eps")
    rows = read_rows(4)
    assert rows["Maximum train epochs"][:2] == ("10 epochs", "10")
    assert rows["Sequence length"][2] == "components.tok2vec.model.encode.max_length"


@pytest.mark.parametrize("text", [None, "[training]\noptimizer = 3", "[pretraining]\n"])
def test_without_settings_the_papers_stand_alone(text, project):
    if text is not None:
        (project / "configs/glue_base.cfg").write_text(text)
    for number in (4, 5):
        assert {ours for _, ours, _ in read_rows(number).values()} == {NONE}
