import pytest

from lab.papers.hash_embeddings.layouts import (
    BAG_OF_WORDS,
    DATASETS,
    EMBEDDINGS,
    ENSEMBLE,
    HASH,
    HASH_DICTIONARY,
    HASH_LINEAR,
    PAPER,
    REDUCE,
    STANDARD,
    STANDARD_LINEAR,
    TRICK,
    name_trials,
)
from lab.papers.hash_embeddings.tables import (
    make_overview,
    make_trial_tables,
    sort_trials,
)
from lab.papers.printed import get_notes, get_printed
from lab.papers.tables import compare
from lab.trials.results import Estimate, TrialKey, read_results

from .trials import write_accuracies

# Read in the paper by eye: table, row, column, figure.
PRINTED = [
    (1, "ag_news", "test", 7_600),
    (1, "dbpedia", "classes", 14),
    (1, "yahoo_answers", "train", 650_000),
    (1, "amazon_polarity", "train", 3_600_000),
    (2, "ag_news", "hash", 0.924),
    (2, "amazon_full", "trick", 0.583),
    (2, "yahoo_answers", "hash_dictionary", 0.713),
    (2, "yahoo_answers", "standard", 0.658),
    (2, "yelp_full", "hash_dictionary", 0.626),
    (2, "yelp_polarity", "ensemble", 0.957),
    (3, "char-CNN (Zhang et al. 2015)", "amazon_full", 0.595),
    (3, "wordCNN (Johnson and Zhang 2016)", "dbpedia", 0.992),
    (3, "Discr. LSTM (Yogatama et al. 2017)", "yahoo_answers", 0.737),
    (3, "n-grams TFIDF (Zhang et al. 2015)", "yelp_full", 0.548),
    (3, "hash_dictionary", "yahoo_answers", 0.719),
    (3, "hash_dictionary", "yelp_full", 0.625),
]

# What is trained and the cells that it fills: columns of table 2, rows of table 3.
FILLS = [
    (HASH, {"hash"}, {"Hash embeddings (no dict.)"}),
    (TRICK, {"trick"}, {"Hashing trick"}),
    (HASH_DICTIONARY, {"hash_dictionary"}, {"Hash embeddings (dict.)"}),
    (STANDARD, {"standard"}, {"Standard embeddings (dict.)"}),
    (ENSEMBLE, {"ensemble"}, {"Hash embeddings (dict., ensemble)"}),
    (HASH_LINEAR, set(), {"Hash embeddings (dict., linear)"}),
    (STANDARD_LINEAR, set(), {"Standard embeddings (dict., linear)"}),
    (BAG_OF_WORDS, set(), {"spaCy's bag of words"}),
    (REDUCE, set(), {"spaCy's tok2vec, reduced"}),
    (
        ("hash_ngram_textcat", "dictionary_fifth"),
        set(),
        {"Hash embeddings (dict.), a fifth of the parameters"},
    ),
    (("mine", "wide"), set(), {"mine wide"}),
]


@pytest.mark.parametrize(("table", "row", "column", "figure"), PRINTED)
def test_what_the_paper_prints(table, row, column, figure):
    assert get_printed(table, row, column, PAPER) == Estimate(mean=figure)


def test_every_cell_of_the_paper_is_there():
    tables = make_trial_tables({})
    assert sorted(tables) == [2, 3]
    *paper, own = tables[2].rows
    assert all(cell.printed for row in paper for cell in row.cells.values())
    assert own.stub == ("Small AG's News",)
    assert not any(cell.printed for cell in own.cells.values())
    rows = {row.stub[0]: row for row in tables[3].rows}
    n_printed = {
        name: sum(cell.printed is not None for cell in row.cells.values())
        for name, row in rows.items()
    }
    gaps = {"Discr. LSTM (Yogatama et al. 2017)": 5}
    gaps["Virt. adv. net. (Miyato et al. 2016)"] = 1
    assert n_printed == {**dict.fromkeys(rows, 7), **gaps}
    assert len(rows) == 13
    assert [row.has_ours for row in tables[3].rows] == [False] * 10 + [True] * 3


def test_tables_2_and_3_differ_where_the_notes_say():
    pairs = {
        (dataset, key): (
            get_printed(2, dataset, key, PAPER),
            get_printed(3, key, dataset, PAPER),
        )
        for dataset in DATASETS
        for key in ("hash", "hash_dictionary", "ensemble")
    }
    different = {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}
    assert set(different) == {
        ("yahoo_answers", "hash_dictionary"),
        ("yelp_full", "hash_dictionary"),
    }
    for number in (2, 3):
        (note,) = [n for n in get_notes(number, PAPER) if "contradicts itself" in n]
        for (dataset, _), pair in different.items():
            here, there = pair if number == 2 else pair[::-1]
            assert f"{100 * here.mean:.1f} ({DATASETS[dataset]})" in note
            assert f"{100 * there.mean:.1f}" in note.split("but")[1]


@pytest.mark.parametrize(("trials", "columns", "rows"), FILLS)
def test_a_trial_fills_its_cells_and_no_others(trials, columns, rows, tmp_path):
    write_accuracies(tmp_path, "yelp_full", trials, [0.123])
    tables = make_trial_tables(read_results(tmp_path))
    ours = Estimate(mean=0.123, n=1)
    filled = {
        (row.stub[0], key)
        for table in tables.values()
        for row in table.rows
        for key, cell in row.cells.items()
        if cell.ours == ours
    }
    assert filled == {("Yelp Full", key) for key in columns} | {
        (name, "yelp_full") for name in rows
    }
    assert not any(
        cell.ours and cell.ours != ours
        for table in tables.values()
        for row in table.rows
        for cell in row.cells.values()
    )


def test_table_3_names_the_trials_of_its_rows(tmp_path):
    write_accuracies(tmp_path, "ag_news", ("textcat_bow", "default"), [0.9])
    write_accuracies(tmp_path, "mine", ("textcat_reduce", "default"), [0.9])
    rows = make_trial_tables(read_results(tmp_path))[3].rows
    assert [row.stub[1] for row in rows][-4:] == [
        "hash_ngram_textcat default",
        "hash_ngram_textcat dictionary",
        "hash_ngram_ensemble default",
        "textcat_bow default",
    ]
    assert {row.stub[1] for row in rows[:-4]} == {""}


def test_the_small_corpus_is_said_to_be_another_task(tmp_path):
    for table in make_trial_tables({}).values():
        assert "another task than AG's News" in table.notes[-1]
    write_accuracies(tmp_path, "ag_news_small", HASH, [0.9])
    tables = make_trial_tables(read_results(tmp_path))
    cells = [tables[2].rows[-1].cells["hash"]]
    cells += [row.cells["ag_news_small"] for row in tables[3].rows[10:11]]
    for cell in cells:
        assert cell.ours == Estimate(mean=0.9, n=1)
        assert cell.printed is None


@pytest.mark.parametrize(
    ("deviation", "n", "mean", "differs"),
    [
        # ours stands in for the paper's: 2 sqrt(2) 0.002 = 0.00566
        (0.002, 3, 0.9056, False),
        (0.002, 3, 0.9057, True),
        # printed to a tenth of a percent: 2 * 0.0005
        (0.0, 3, 0.9009, False),
        (0.0, 3, 0.8989, True),
        (None, 1, 0.5, False),
    ],
)
def test_differences_are_marked_to_the_place_that_is_printed(
    deviation, n, mean, differs
):
    ours = Estimate(mean=mean, deviation=deviation, n=n)
    assert compare(ours, Estimate(mean=0.9), PAPER).differs == differs


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        ("default", "Hash embeddings (no dict.)"),
        ("fifth", "Hash embeddings (no dict.), a fifth of the parameters"),
        ("default_fifth", "Hash embeddings (no dict.), a fifth of the parameters"),
        ("hashing_trick_fifth", "Hashing trick, a fifth of the parameters"),
        ("rows10_fifth", "hash_ngram_textcat rows10, a fifth of the parameters"),
    ],
)
def test_a_fifth_of_an_embedding_is_named_after_it(variant, name):
    assert name_trials("hash_ngram_textcat", variant) == name


def test_trials_are_in_the_order_of_the_paper():
    embedders = [*EMBEDDINGS, ("another", "default"), ("zebra", "b")]
    keys = [
        TrialKey(dataset, *embedder)
        for dataset in [*DATASETS, "a", "b"]
        for embedder in embedders
    ]
    assert sort_trials(keys[::-1]) == keys
    fifth = TrialKey("ag_news", "hash_ngram_textcat", "fifth")
    assert sort_trials([fifth, *keys])[:2] == [keys[0], fifth]


def test_the_overview_has_all_datasets_and_sizes(tmp_path):
    write_accuracies(tmp_path, "mine", HASH, [0.7, 0.8], parameters=42)
    write_accuracies(tmp_path, "ag_news", HASH, [0.9])
    rows = make_overview(read_results(tmp_path)).rows
    assert [row.stub[0] for row in rows] == ["AG's News", "mine"]
    cells = {key: cell.ours for key, cell in rows[1].cells.items()}
    accuracy, macro = cells.pop("cats_acc"), cells.pop("cats_macro_f")
    assert accuracy.mean == pytest.approx(0.75)
    assert (accuracy.deviation, accuracy.n) == (pytest.approx(0.05), None)
    assert macro.mean == 0.5
    figures = {key: cell.mean for key, cell in cells.items()}
    assert figures == {"seeds": 2, "parameters": 42, "megabytes": 2.5}
