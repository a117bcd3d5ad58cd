"""Printed figures of papers, and the trials that fill their cells."""

import pytest

from lab.papers import PAPERS
from lab.papers.paper import REPORT, read_paper
from lab.papers.tables import FORMATS
from lab.trials.results import Estimate

from ..recorded import write_result
from .trials import fill, find_filled, get_means, get_row, write_accuracies, write_f1

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"

# Read in the papers by eye: table, row, column, and the mean, or mean and deviation.
PRINTED = {
    "multi-hash-embeddings": [
        ("1", "conll2002_es", "rows20", [0.78, 0.02]),
        ("2", "orth", "seen", 1.6),
        ("4", "ontonotes", "NORM", 49397),
        ("17", "anem", "spacy_p", [0.83, 0.1]),
    ],
    "hash-embeddings": [
        ("1", "amazon_polarity", "train", 3600000),
        ("2", "yelp_polarity", "ensemble", 0.957),
        ("3", "char-CNN (Zhang et al. 2015)", "amazon_full", 0.595),
    ],
    "why-attention": [
        ("1", "BiLSTM-CNN (Chiu and Nichols 2016)", "ontonotes_r", 0.8653),
        ("1", "baseline", "wnut17_f", [0.4068, 0.0178]),
        ("2", "train", "ontonotes_tokens", 1088.5),
        ("5", "E", "other", -0.0038),
    ],
    "hashformers": [
        ("1", "canine_c", "average", [0.704, 0.013]),
        ("2", "lsh_proj", "embedding", 0.0991),
        ("3", "pool", "best_times", 2.3),
    ],
}

# Some trials, a score, and the cells of the report that it fills.
FILLS = [
    (f"{HASH}/default", "dev/ents_f", "1/default 13/hashes4 15/mhe"),
    (f"{HASH}/rows20", "dev/ents_f", "1/rows20"),
    (f"{LOOKUP}/vectors", "test/ents_r", "7/me_r 8/me_r"),
    (f"{HASH}/default", "test/ents_f", "9/mhe_f"),
    (f"{HASH}/rows100", "test/ents_p", "10/mhe_p"),
    (f"{LOOKUP}/default", "test/ents_unseen_r", "11/me_r"),
    (f"{HASH}/vectors", "test/ents_unseen_f", "12/mhe_f"),
    (f"{LOOKUP}/min_freq5_vectors", "dev/ents_f", "16/me_5"),
    (f"{HASH}/vectors", "dev/ents_f", "14/hashes4 16/mhe 17/spacy_f"),
    (f"{FEWER}/default", "test/ents_f", ""),
]

# Texts: what is trained, its column in table 2, its row in table 3.
TEXTS = [
    ("hash_ngram_textcat/default", "hash", "Hash embeddings (no dict.)"),
    ("hash_ngram_textcat/hashing_trick", "trick", "Hashing trick"),
    ("hash_ngram_textcat/dictionary", "hash_dictionary", "Hash embeddings (dict.)"),
    ("hash_ngram_textcat/standard", "standard", "Standard embeddings (dict.)"),
    ("hash_ngram_ensemble/default", "ensemble", "Hash embeddings (dict., ensemble)"),
    (
        *("hash_ngram_textcat/standard_linear_fifth", None),
        "Standard embeddings (dict., linear), a fifth of the parameters",
    ),
    ("textcat_bow/default", None, "spaCy's bag of words"),
    ("mine/wide", None, "mine wide"),
]

# BiLSTMs: what is trained, and its row in table 1.
ENCODERS = [
    ("bilstm_char_cnn/att", "Att-BiLSTM-CNN"),
    ("bilstm_char_cnn/floret", "Cross-BiLSTM-CNN, floret vectors"),
    ("bilstm_token_ner/baseline", "Baseline-BiLSTM, hash embeddings"),
    ("bilstm_ner/default", "Cross-BiLSTM, hash embeddings, spaCy's ner"),
]


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_printed(paper):
    about = read_paper(paper)
    for table, row, column, value in PRINTED[paper]:
        printed = about.get_printed(table, row, column)
        deviation = None if printed.n is None else printed.deviation
        assert value in (printed.mean, [printed.mean, deviation]), (table, row, column)
        assert isinstance(value, list) == (printed.n == about.seeds)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_printed_has_a_place(paper):
    """Every row and column of the data is one of a table, and is shown there."""
    about = read_paper(paper)
    for key, table in fill(paper).items():
        assert table.caption
        assert {column.kind for column in table.columns} <= set(FORMATS)
        keys = {column.key for column in table.columns}
        assert all(set(row.cells) == keys for row in table.rows)
        if table.number is not None and table.columns:
            n_printed = sum(map(len, about.get_rows(key).values()))
            cells = [cell for row in table.rows for cell in row.cells.values()]
            assert sum(cell.printed is not None for cell in cells) == n_printed > 0
            assert not any(cell.ours or cell.differs for cell in cells)


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (REPORT, {"1": 8, "2": 12, "3": 12, "5": 48, "9": 36, "17": 36}),
        ("hash-embeddings", {"1": 21, "2": 35, "3": 11 * 7 + 5 + 1}),
        ("why-attention", {"1": 24, "2": 12, "3": 16, "4": 16, "5": 45}),
        ("hashformers", {"1": 14 * 9, "2": 12 * 14, "3": 7 * 6 - 2 - 3 * 2}),
    ],
)
def test_every_figure_of_the_paper_is_there(paper, expected):
    rows = {table: read_paper(paper).get_rows(table).values() for table in expected}
    assert {table: sum(map(len, each)) for table, each in rows.items()} == expected


@pytest.mark.parametrize(("trials", "score", "cells"), FILLS)
def test_a_trial_fills_its_cells_of_the_report_and_no_others(
    trials, score, cells, tmp_path
):
    split, name = score.split("/")
    scores = {split: {name: 0.123}}
    for dataset in ("archaeology", "anem"):
        write_result(tmp_path, dataset, *trials.split("/"), scores=scores)
    filled = {
        f"{key}/{column}"
        for key, table in fill(REPORT, tmp_path).items()
        if table.number is not None
        for row in table.rows
        for column, cell in row.cells.items()
        if row.stub == ("Archeology",) and cell.ours == Estimate(mean=0.123, n=1)
    }
    assert filled == {*cells.split()}


@pytest.mark.parametrize(("trials", "column", "name"), TEXTS)
def test_a_text_classifier_fills_its_cells_and_no_others(
    trials, column, name, tmp_path
):
    write_accuracies(tmp_path, "yelp_full", trials, [0.123])
    tables = fill("hash-embeddings", tmp_path)
    in_table_2 = {("Yelp Full", column): 0.123} if column else {}
    assert find_filled(tables["2"]) == in_table_2
    assert find_filled(tables["3"]) == {(name, "yelp_full"): 0.123}
    assert " ".join(trials.split("/")) in [row.stub[1] for row in tables["3"].rows]


@pytest.mark.parametrize(("trials", "name"), ENCODERS)
def test_an_encoder_fills_its_row_of_table_1(trials, name, tmp_path):
    write_f1(tmp_path, "wnut17", trials, [0.125])
    scores = {"p": 0.5, "r": 0.5, "f": 0.125}
    filled = {(name, f"wnut17_{key}"): f for key, f in scores.items()}
    assert find_filled(fill("why-attention", tmp_path)["1"]) == filled


def test_rows_are_the_datasets_of_the_report(tmp_path):
    for dataset in ("anem", "demo"):
        write_f1(tmp_path, dataset, f"{HASH}/default", [0.5, 0.6, 0.7])
    tables = fill(REPORT, tmp_path)
    names = ["CoNLL es", "CoNLL nl", "WNUT2017", "Archeology", "AnEM", "OntoNotes"]
    assert [row.stub[0] for row in tables["9"].rows] == names
    assert [row.stub[0] for row in tables["1"].rows] == ["CoNLL es", "Archeology"]
    value = get_row(tables["9"], "AnEM")["mhe_f"].ours
    assert (value.mean, value.n) == (pytest.approx(0.6), 3)
    assert value.deviation == pytest.approx((0.02 / 3) ** 0.5)


def test_what_the_paper_cites_comes_first_and_what_has_no_name_last(tmp_path):
    write_accuracies(tmp_path, "ag_news", "mine/b", [0.9])
    write_accuracies(tmp_path, "mine", "mine/a", [0.9])
    rows = fill("hash-embeddings", tmp_path)["3"].rows
    n_named = len(read_paper("hash-embeddings").trials)
    assert [row.has_ours for row in rows] == [False] * 10 + [True] * (n_named + 1)
    # of datasets that have a column
    assert [row.stub for row in rows if "mine" in row.stub[0]] == [("mine b",) * 2]
    assert rows[-1].stub == ("mine b",) * 2


def test_the_small_corpus_is_said_to_be_another_task(tmp_path):
    write_accuracies(tmp_path, "ag_news_small", "hash_ngram_textcat/default", [0.9])
    tables = fill("hash-embeddings", tmp_path)
    for table in (tables["2"], tables["3"]):
        assert "another task than AG's News" in table.notes[-1]
    cell = get_row(tables["2"], "Small AG's News")["hash"]
    assert (cell.ours, cell.printed) == (Estimate(mean=0.9, n=1), None)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_overview_has_all_trials_in_order_with_scores_and_sizes(paper, tmp_path):
    about = read_paper(paper)
    is_text = about.task == "textcat"
    named = list(about.trials) or [f"{HASH}/default", f"{HASH}/rows10"]
    # what has no name or place comes last, and numbers by their size
    trials = [named[0], named[1], "a/rows5", "a/rows20", "a/rows100"]
    write = write_accuracies if is_text else write_f1
    for dataset in ("demo", next(iter(about.datasets))):
        for each in reversed(trials):
            write(tmp_path, dataset, each, [0.25, 0.5])
    table = fill(paper, tmp_path)["All trials"]
    assert [row.stub for row in table.rows] == [
        (name, *each.split("/"))
        for name in (next(iter(about.datasets.values())), "demo")
        for each in trials
    ]
    cells = table.rows[0].cells
    score = cells["cats_acc" if is_text else "all"].ours
    # how many seeds has a column of its own
    assert score == Estimate(mean=0.375, deviation=0.125)
    sizes = {"seeds": 2, "parameters": 1000 if is_text else 400}
    sizes["megabytes"] = 2.5 if is_text else 2.0
    if "speed" in cells:
        sizes |= {"pipeline": 1000, "speed": 1000}
    means = get_means(cells)
    assert {key: means[key] for key in sizes} == sizes


def test_the_overview_has_what_the_report_prints_of_the_same_trials(tmp_path):
    write_f1(tmp_path, "anem", f"{LOOKUP}/default", [0.4, 0.5])
    (row,) = fill(REPORT, tmp_path)["All trials"].rows
    # tables 9 and 11
    assert row.cells["all"].printed.mean == 0.44
    assert row.cells["unseen"].printed.mean == 0.23
    assert row.cells["seen"].printed is None
    assert not row.cells["all"].differs
    assert row.cells["unseen"].differs
