import pytest

from lab.papers.layouts import Trials
from lab.papers.printed import get_printed
from lab.papers.tables import Table
from lab.papers.why_attention.layouts import (
    NAMES,
    PAPER,
    name_trials,
)
from lab.papers.why_attention.tables import (
    make_overview,
    make_trial_tables,
)
from lab.trials.results import Estimate, read_results

from .trials import write_f1

# Read in the paper by eye: table, row, column, figure.
PRINTED = [
    (1, "BiLSTM-CNN (Chiu and Nichols 2016)", "ontonotes_r", 0.8653),
    (
        1,
        "CRF-BiLSTM(-BiLSTM) (Strubell et al. 2017; Lin et al. 2017)",
        "wnut17_f",
        0.3824,
    ),
    (1, "baseline", "wnut17_p", 0.5324),
    (1, "cross", "ontonotes_r", 0.8817),
    (1, "att", "wnut17_r", 0.3408),
    (2, "train", "ontonotes_tokens", 1088.5),
    (2, "test", "wnut17_entities", 1.0),
    (3, "ontonotes WORK_OF_ART", "att", 0.056),
    (3, "wnut17 location", "cross", 0.086),
    (3, "wnut17 creative-work", "att", 0.02),
    (4, "ontonotes 4+", "att", 0.018),
    (4, "wnut17 3", "cross", 0.087),
    (5, "O", "C3", -0.4557),
    (5, "S", "C3", -0.2561),
    (5, "B", "C4", -0.1221),
    (5, "I", "H", -0.2818),
    (5, "I", "C", -0.038),
    (5, "E", "other", -0.0038),
]

#: What is trained, and its row in table 1.
ROWS = [
    (("bilstm_char_cnn", "baseline"), "Baseline-BiLSTM-CNN"),
    (("bilstm_char_cnn", "default"), "Cross-BiLSTM-CNN"),
    (("bilstm_char_cnn", "att"), "Att-BiLSTM-CNN"),
    (("bilstm_char_cnn", "baseline_floret"), "Baseline-BiLSTM-CNN, floret vectors"),
    (("bilstm_char_cnn", "floret"), "Cross-BiLSTM-CNN, floret vectors"),
    (("bilstm_char_cnn", "att_floret"), "Att-BiLSTM-CNN, floret vectors"),
    (("bilstm_token_ner", "baseline"), "Baseline-BiLSTM, hash embeddings"),
    (("bilstm_token_ner", "default"), "Cross-BiLSTM, hash embeddings"),
    (("bilstm_token_ner", "att"), "Att-BiLSTM, hash embeddings"),
    (("bilstm_ner", "baseline"), "Baseline-BiLSTM, hash embeddings, spaCy's ner"),
    (("bilstm_ner", "default"), "Cross-BiLSTM, hash embeddings, spaCy's ner"),
    (("bilstm_ner", "att"), "Att-BiLSTM, hash embeddings, spaCy's ner"),
]

#: The columns of tables 3 and 4 that compare an encoder with the baseline.
COLUMNS = [
    ("bilstm_char_cnn", "default", "baseline", "char_cnn_cross"),
    ("bilstm_char_cnn", "att", "baseline", "char_cnn_att"),
    ("bilstm_char_cnn", "floret", "baseline_floret", "floret_cross"),
    ("bilstm_char_cnn", "att_floret", "baseline_floret", "floret_att"),
    ("bilstm_token_ner", "default", "baseline", "hash_cross"),
    ("bilstm_token_ner", "att", "baseline", "hash_att"),
]


def get_row(table: Table, *stub: str):
    (row,) = [row for row in table.rows if row.stub == stub]
    return row.cells


@pytest.mark.parametrize(("table", "row", "column", "figure"), PRINTED)
def test_what_the_paper_prints(table, row, column, figure):
    assert get_printed(table, row, column, PAPER) == Estimate(mean=figure)


def test_f1_is_printed_with_the_deviation_of_six_trainings():
    printed = get_printed(1, "baseline", "wnut17_f", PAPER)
    assert printed == Estimate(mean=0.4068, deviation=0.0178, n=6)


def test_every_cell_of_the_paper_is_there():
    tables = make_trial_tables({})
    n_printed = {
        number: sum(bool(c.printed) for row in table.rows for c in row.cells.values())
        for number, table in tables.items()
    }
    # tables 3 and 4: two encoders, on 5 + 3 types and 4 + 4 lengths
    assert n_printed == {1: 3 + 1 + 2 + 3 * 6, 3: 2 * 8, 4: 2 * 8}
    assert [row.has_ours for row in tables[1].rows] == [False] * 3 + [True] * 12
    assert not any(
        cell.ours
        for table in tables.values()
        for row in table.rows
        for cell in row.cells.values()
    )


@pytest.mark.parametrize(("trials", "name"), ROWS)
def test_a_trial_fills_its_row_of_table_1(trials, name, tmp_path):
    write_f1(tmp_path, "wnut17", trials, [0.125])
    table = make_trial_tables(read_results(tmp_path))[1]
    filled = {
        (*row.stub, key): cell.ours.mean
        for row in table.rows
        for key, cell in row.cells.items()
        if cell.ours
    }
    stub = (name, " ".join(trials))
    scores = {"p": 0.5, "r": 0.5, "f": 0.125}
    assert filled == {(*stub, f"wnut17_{key}"): f for key, f in scores.items()}
    assert name_trials(*trials) == name
    assert set(NAMES) == {trials for trials, _ in ROWS}
    assert name_trials("bilstm_ner", "mine") == "bilstm_ner mine"


@pytest.mark.parametrize(
    ("values", "differs"),
    [
        # printed is 40.68 ± 1.78: 2 sqrt(0.0178^2 + 0.01^2) = 0.0408
        ([0.3563, 0.3763], False),
        ([0.3557, 0.3757], True),
    ],
)
def test_f1_differs_beyond_both_deviations(values, differs, tmp_path):
    write_f1(tmp_path, "wnut17", ("bilstm_char_cnn", "baseline"), values)
    table = make_trial_tables(read_results(tmp_path))[1]
    cells = get_row(table, "Baseline-BiLSTM-CNN", "bilstm_char_cnn baseline")
    assert cells["wnut17_f"].differs == differs


@pytest.mark.parametrize(("embedder", "variant", "baseline", "column"), COLUMNS)
def test_changes_are_to_the_baseline_of_the_same_family(
    embedder, variant, baseline, column, tmp_path
):
    parts = [
        {"type": {"group": (f, 5)}, "length": {"4+": (f + 0.25, 6)}}
        for f in (0.5, 0.25)
    ]
    write_f1(tmp_path, "wnut17", (embedder, variant), [0.5], parts=parts[0])
    write_f1(tmp_path, "wnut17", (embedder, baseline), [0.5], parts=parts[1])
    tables = make_trial_tables(read_results(tmp_path))
    for number, name, support in ((3, "group", 5), (4, "4+", 6)):
        cells = get_row(tables[number], "WNUT 2017", name)
        found = {key: cell.ours for key, cell in cells.items() if cell.ours}
        change = Estimate(mean=0.25, n=1)
        assert found == {"support": Estimate(mean=support), column: change}


def test_changes_are_averaged_over_the_seeds_that_both_have(tmp_path):
    family = "bilstm_char_cnn"
    for seed, (cross, baseline) in enumerate(zip((0.5, 0.7), (0.4, 0.4), strict=True)):
        for variant, f in (("default", cross), ("baseline", baseline)):
            parts = {"type": {"location": (f, 3)}}
            write_f1(
                *(tmp_path, "wnut17", (family, variant), [f]),
                parts=parts,
                first_seed=seed,
            )
    others = {"type": {"location": (0.9, 3)}}
    write_f1(
        *(tmp_path, "wnut17", (family, "default"), [0.9]), parts=others, first_seed=2
    )
    cells = get_row(
        make_trial_tables(read_results(tmp_path))[3], "WNUT 2017", "location"
    )
    ours = cells["char_cnn_cross"].ours
    assert ours.mean == pytest.approx(0.2)
    assert (ours.deviation, ours.n) == (pytest.approx(0.1), 2)
    # printed is +8.6, without a deviation: ours stands in
    assert cells["char_cnn_cross"].printed == Estimate(mean=0.086)
    assert not cells["char_cnn_cross"].differs


def test_all_types_with_entities_are_there(tmp_path):
    types = {"product": (0.5, 4), "group": (0.5, 3), "wrong": (0.0, 0)}
    trials = ("bilstm_token_ner", "att")
    write_f1(tmp_path, "wnut17", trials, [0.5], parts={"type": types})
    write_f1(tmp_path, "conll2002_es", trials, [0.5], parts={"type": {"LOC": (0.5, 2)}})
    rows = make_trial_tables(read_results(tmp_path))[3].rows
    printed = ["corporation", "creative-work", "location"]
    found = [name for dataset, name in (row.stub for row in rows[5:])]
    assert found == [*sorted([*printed, "group", "product"]), "LOC"]


def test_a_trial_without_scores_by_length_leaves_the_cell_empty(tmp_path):
    types = {"type": {"location": (0.5, 3)}}
    write_f1(tmp_path, "wnut17", ("bilstm_char_cnn", "att"), [0.5], parts=types)
    write_f1(tmp_path, "wnut17", ("bilstm_char_cnn", "baseline"), [0.5], parts=types)
    tables = make_trial_tables(read_results(tmp_path))
    cells = get_row(tables[3], "WNUT 2017", "location")
    assert cells["char_cnn_att"].ours == Estimate(mean=0, n=1)
    cells = get_row(tables[4], "WNUT 2017", "1")
    assert not any(cell.ours for cell in cells.values())
    assert cells["char_cnn_att"].printed == Estimate(mean=0.015)


def test_the_overview_has_the_trials_in_order_with_sizes_and_speed(tmp_path):
    order = [Trials("b", "default"), Trials("a", "default")]
    for dataset in ("mine", "wnut17"):
        for trials in order:
            write_f1(tmp_path, dataset, trials, [0.5, 0.25])
    table = make_overview(read_results(tmp_path), order)
    assert [row.stub for row in table.rows] == [
        ("WNUT 2017", "b", "default"),
        ("WNUT 2017", "a", "default"),
        ("mine", "b", "default"),
        ("mine", "a", "default"),
    ]
    cells = {key: cell.ours.mean for key, cell in table.rows[0].cells.items()}
    assert cells == {
        **{"all": 0.375, "seen": 0.5, "unseen": 0.5, "seeds": 2, "parameters": 10},
        **{"megabytes": 2.0, "pipeline": 30, "speed": 1000.5},
    }
    assert set(cells) == {column.key for column in table.columns}
