import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.papers.layouts import (
    DATASET_NAMES,
    LAYOUTS,
    Source,
    name_variant,
)
from lab.papers.printed import find_printed, get_printed
from lab.papers.tables import (
    compare,
    find_compared,
    make_trial_tables,
    relative_error_increase,
)
from lab.trials.results import Estimate, estimate, read_results

from ..trials.test_results import write_result, write_seeds

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"

# Read in the report by eye: table, row, column, mean, deviation.
PRINTED = [
    (1, "conll2002_es", "rows20", 0.78, 0.02),
    (1, "archaeology", "rows10", 0.80, 0.01),
    (2, "orth", "seen", 1.60, None),
    (3, "norm_prefix", "seen", -0.46, None),
    (4, "ontonotes", "NORM", 49397, None),
    (5, "conll2002_nl", "document_length", 706, None),
    (6, "anem", "test_unseen", 708, None),
    (7, "wnut17", "mhe_r", 0.25, 0.04),
    (8, "anem", "mhe_r", 0.57, 0.02),
    (9, "anem", "me_f", 0.44, 0.01),
    (10, "ontonotes", "mhe_f", 0.82, 0.01),
    (11, "anem", "me_r", 0.18, 0.03),
    (12, "archaeology", "me_r", 0.50, 0.02),
    (13, "ontonotes", "hashes1", 0.77, 0.03),
    (14, "archaeology", "hashes4", 0.85, 0.00),
    (15, "anem", "me_5", 0.71, None),
    (16, "conll2002_nl", "me_1", 0.76, None),
    (17, "anem", "spacy_p", 0.83, 0.10),
]

# A trial's score and the cells that it fills.
FILLS = [
    (HASH, "default", "dev", "ents_f", {(1, "default"), (13, "hashes4"), (15, "mhe")}),
    (HASH, "rows100", "dev", "ents_f", {(1, "rows100")}),
    (HASH, "rows20", "dev", "ents_f", {(1, "rows20")}),
    (HASH, "rows10", "dev", "ents_f", {(1, "rows10")}),
    (HASH, "vectors", "test", "ents_p", {(7, "mhe_p")}),
    (LOOKUP, "vectors", "test", "ents_r", {(7, "me_r"), (8, "me_r")}),
    (HASH, "rows100_vectors", "test", "ents_f", {(8, "mhe_f")}),
    (HASH, "default", "test", "ents_f", {(9, "mhe_f")}),
    (LOOKUP, "default", "test", "ents_f", {(9, "me_f"), (10, "me_f")}),
    (HASH, "rows100", "test", "ents_p", {(10, "mhe_p")}),
    (HASH, "default", "test", "ents_unseen_f", {(11, "mhe_f")}),
    (LOOKUP, "default", "test", "ents_unseen_r", {(11, "me_r")}),
    (HASH, "vectors", "test", "ents_unseen_f", {(12, "mhe_f")}),
    (FEWER, "default", "dev", "ents_f", {(13, "hashes1")}),
    (FEWER, "hashes2", "dev", "ents_f", {(13, "hashes2")}),
    (FEWER, "hashes3", "dev", "ents_f", {(13, "hashes3")}),
    (FEWER, "vectors", "dev", "ents_f", {(14, "hashes1")}),
    (FEWER, "hashes3_vectors", "dev", "ents_f", {(14, "hashes3")}),
    (LOOKUP, "default", "dev", "ents_f", {(15, "me_10")}),
    (LOOKUP, "min_freq1", "dev", "ents_f", {(15, "me_1")}),
    (LOOKUP, "vectors", "dev", "ents_f", {(16, "me_10")}),
    (LOOKUP, "min_freq5_vectors", "dev", "ents_f", {(16, "me_5")}),
    (
        HASH,
        "vectors",
        "dev",
        "ents_f",
        {(14, "hashes4"), (16, "mhe"), (17, "spacy_f")},
    ),
    (HASH, "fasttext", "dev", "ents_r", {(17, "fasttext_r")}),
    (FEWER, "default", "test", "ents_f", set()),
    (HASH, "default", "test", "ents_seen_f", set()),
    (HASH, "floret", "test", "ents_f", set()),
]

# F1 of two decimals that give the percentages of tables 2 and 3, found by search.
ABLATIONS = [
    ([0.70, 0.65, 0.61, 0.56, 0.55], [17, 30, 47, 50]),
    ([0.95, 0.95, 0.91, 0.90, 0.87], [0, 80, 100, 160]),
    ([0.66, 0.61, 0.57, 0.43, 0.45], [15, 26, 68, 62]),
    ([0.50, 0.48, 0.45, 0.45, 0.40], [4, 10, 10, 20]),
    ([0.74, 0.82, 0.86, 0.83, 0.83], [-31, -46, -35, -35]),
    ([0.25, 0.23, 0.21, 0.16, 0.13], [3, 5, 12, 16]),
]


@pytest.mark.parametrize(("table", "row", "column", "mean", "deviation"), PRINTED)
def test_what_is_printed(table, row, column, mean, deviation):
    printed = get_printed(table, row, column)
    assert printed is not None
    assert (printed.mean, printed.deviation) == (mean, deviation)


def test_every_cell_of_the_report_is_there():
    tables = make_trial_tables({})
    assert sorted(tables) == [1, 2, 3, *range(7, 18)]
    for number, table in tables.items():
        assert table.caption
        rows = table.rows[1:] if number in (2, 3) else table.rows
        for row in rows:
            assert list(row.cells) == [column.key for column in table.columns]
            assert all(cell.printed for cell in row.cells.values())
            assert not any(cell.ours or cell.differs for cell in row.cells.values())


def test_printed_scores_are_possible():
    """The F1 of a precision and a recall, within what rounding leaves open."""
    slips = []
    for layout in LAYOUTS:
        keys = {column.key for column in layout.columns}
        for dataset in layout.datasets:
            for key in sorted(key[:-2] for key in keys if key.endswith("_p")):
                p, r, f = (
                    get_printed(layout.number, dataset, f"{key}_{score}").mean
                    for score in "prf"
                )
                if abs(2 * p * r / (p + r) - f) > 0.0101:
                    slips.append((layout.number, dataset, key))
    assert slips == [(11, "conll2002_nl", "me")]


@pytest.mark.parametrize(("embedder", "variant", "split", "score", "cells"), FILLS)
def test_a_trial_fills_its_cells_and_no_others(
    embedder, variant, split, score, cells, tmp_path
):
    scores = {split: {score: 0.123}}
    for dataset in ("archaeology", "anem"):
        path = write_result(tmp_path, dataset, embedder, variant, scores=scores)
        assert path.is_file()
    tables = make_trial_tables(read_results(tmp_path))
    filled = {
        (number, column)
        for number, table in tables.items()
        for row in table.rows
        for column, cell in row.cells.items()
        if row.stub == ("Archeology",) and cell.ours == Estimate(mean=0.123, n=1)
    }
    assert filled == cells


def test_rows_are_the_datasets_of_the_report(tmp_path):
    write_seeds(tmp_path, "anem", HASH, "default", [0.5, 0.6, 0.7])
    write_seeds(tmp_path, "demo", HASH, "default", [0.9])
    tables = make_trial_tables(read_results(tmp_path))
    assert [row.stub for row in tables[9].rows] == [
        ("CoNLL es",),
        ("CoNLL nl",),
        ("WNUT2017",),
        ("Archeology",),
        ("AnEM",),
        ("OntoNotes",),
    ]
    assert [row.stub for row in tables[1].rows] == [("CoNLL es",), ("Archeology",)]
    values = [row.cells["mhe_f"].ours for row in tables[9].rows]
    assert values[:4] == [None] * 4
    assert values[5] is None
    assert values[4].mean == pytest.approx(0.6)
    assert values[4].deviation == pytest.approx(math.sqrt(0.02 / 3))
    assert values[4].n == 3


def test_scores_are_found_by_trial():
    assert find_printed("anem", Source(LOOKUP, "default", "test", "ents_f")) == (
        Estimate(mean=0.44, deviation=0.01, n=3)
    )
    assert (
        find_printed("anem", Source(LOOKUP, "default", "test", "ents_seen_f")) is None
    )
    assert find_printed("demo", Source(LOOKUP, "default", "test", "ents_f")) is None


def test_variants_with_vectors_have_names():
    assert name_variant("default", "") == "default"
    assert name_variant("default", "floret") == "floret"
    assert name_variant("rows100", "vectors") == "rows100_vectors"


@pytest.mark.parametrize(
    ("ours", "printed", "differs"),
    [
        # 2 sqrt(0.03^2 + 0.04^2) = 0.1
        ((0.601, 0.03, 3), (0.50, 0.04), True),
        ((0.599, 0.03, 3), (0.50, 0.04), False),
        ((0.399, 0.03, 3), (0.50, 0.04), True),
        # printed as 0.00: at least 0.005, so 0.01 apart is no difference
        ((0.509, 0.0, 3), (0.50, 0.0), False),
        ((0.511, 0.0, 3), (0.50, 0.0), True),
        # one seed: the report's deviation stands in, 2 sqrt(2) 0.01 = 0.0283
        ((0.528, None, 1), (0.50, 0.01), False),
        ((0.529, None, 1), (0.50, 0.01), True),
        # none printed: ours stands in
        ((0.528, 0.01, 3), (0.50, None), False),
        ((0.529, 0.01, 3), (0.50, None), True),
        # neither: nothing to judge by
        ((0.9, None, 1), (0.1, None), False),
    ],
)
def test_differences_beyond_two_deviations_are_marked(ours, printed, differs):
    mean, deviation, n = ours
    own = Estimate(mean=mean, deviation=deviation, n=n)
    theirs = Estimate(mean=printed[0], deviation=printed[1])
    cell = compare(own, theirs)
    assert (cell.ours, cell.printed) == (own, theirs)
    assert cell.differs is differs


@pytest.mark.parametrize(
    ("n_ours", "prints_deviations", "expected"),
    [
        (3, True, (1 / 35, 1 / 20)),
        (3, False, (1 / 15, 1 / 10)),
        (1, True, (1 / 12, 1 / 6)),
    ],
)
def test_chance_marks_as_often_as_is_said(n_ours, prints_deviations, expected):
    """In docs/report.md and in the report itself."""
    rng = np.random.default_rng(0)
    for i, deviation in enumerate((0.01, 0.02)):
        ours = rng.normal(0.5, deviation, (10_000, n_ours))
        theirs = rng.normal(0.5, deviation, (10_000, 3))
        marked = [
            compare(
                estimate(own),
                Estimate(
                    mean=round(np.mean(other), 2),
                    deviation=round(np.std(other), 2) if prints_deviations else None,
                ),
            ).differs
            for own, other in zip(ours.tolist(), theirs.tolist(), strict=True)
        ]
        assert np.mean(marked) == pytest.approx(expected[i], rel=0.25)


def test_what_is_missing_differs_from_nothing():
    value = Estimate(mean=0.5, deviation=0.1, n=3)
    assert not compare(None, value).differs
    assert not compare(value, None).differs
    assert not compare(None, None).differs


@given(*[st.floats(0, 1)] * 2, *[st.floats(0, 0.2)] * 2)
def test_differing_is_symmetric_about_the_printed_value(mean, shift, own, theirs):
    printed = Estimate(mean=mean, deviation=theirs)
    up = Estimate(mean=mean + shift, deviation=own, n=3)
    down = Estimate(mean=mean - shift, deviation=own, n=3)
    expected = shift > 2 * math.sqrt(own**2 + max(theirs, 0.005) ** 2)
    if not math.isclose(shift, 2 * math.hypot(own, max(theirs, 0.005)), rel_tol=1e-6):
        assert compare(up, printed).differs is expected
        assert compare(down, printed).differs is expected


@pytest.mark.parametrize(("scores", "percentages"), ABLATIONS)
def test_relative_errors_give_the_reports_percentages(scores, percentages):
    baseline, *others = (Estimate(mean=score, n=3) for score in scores)
    increases = [relative_error_increase(f, baseline) for f in others]
    assert [round(100 * increase.mean) for increase in increases] == percentages


def test_relative_errors_deviate_as_simulated():
    rng = np.random.default_rng(0)
    baseline = rng.normal(0.7, 0.02, 200_000)
    scores = rng.normal(0.6, 0.01, 200_000)
    simulated = np.std((1 - scores) / (1 - baseline) - 1)
    increase = relative_error_increase(
        Estimate(mean=0.6, deviation=0.01, n=3),
        Estimate(mean=0.7, deviation=0.02, n=2),
    )
    assert increase.mean == pytest.approx(1 / 3)
    assert increase.deviation == pytest.approx(simulated, rel=0.03)
    assert increase.n == 2


def test_relative_errors_of_what_is_not_there():
    f = Estimate(mean=0.5, deviation=0.1, n=3)
    assert relative_error_increase(None, f) is None
    assert relative_error_increase(f, None) is None
    assert relative_error_increase(f, Estimate(mean=1.0, deviation=0.0, n=3)) is None
    alone = Estimate(mean=0.6, n=1)
    assert relative_error_increase(f, alone) == Estimate(mean=0.25, deviation=None, n=1)


def test_tables_2_and_3_are_filled(tmp_path):
    for dataset, rows in (("conll2002_nl", ABLATIONS[:3]), ("anem", ABLATIONS[3:])):
        variants = ("default", "norm_prefix_suffix", "norm_prefix", "norm", "orth")
        for i, variant in enumerate(variants):
            prefixes = ("ents", "ents_seen", "ents_unseen")
            test = {
                f"{prefix}_f": scores[i]
                for prefix, (scores, _) in zip(prefixes, rows, strict=True)
            }
            for seed in range(3):
                scores = {"test": test, "dev": {"ents_f": 0.1 * i}}
                write_result(tmp_path, dataset, HASH, variant, seed, scores)
    tables = make_trial_tables(read_results(tmp_path))
    for number in (2, 3):
        first, *others = tables[number].rows
        assert first.stub == ("", "✓", "✓", "✓", "✓")
        assert others[1].stub == ("", "✓", "✓", "", "")
        assert others[3].stub == ("✓", "", "", "", "")
        assert all(not cell.ours and not cell.printed for cell in first.cells.values())
        for row in others:
            for cell in row.cells.values():
                assert cell.ours.mean == pytest.approx(cell.printed.mean, abs=0.005)
                assert cell.ours.n == 3
                assert not cell.differs


def test_footnotes_name_the_contradictions():
    """In the report's own numbers, not ours: the same setting in two tables."""
    for dataset, first, second in (
        ("wnut17", (13, "hashes4"), (15, "mhe")),
        ("archaeology", (13, "hashes4"), (15, "mhe")),
        ("conll2002_nl", (14, "hashes4"), (16, "mhe")),
        ("ontonotes", (14, "hashes4"), (17, "spacy_f")),
        ("wnut17", (9, "mhe_f"), (11, "mhe_f")),
        ("wnut17", (7, "me_f"), (12, "me_f")),
        ("conll2002_es", (1, "default"), (13, "hashes4")),
    ):
        table, _ = second
        values = [get_printed(n, dataset, key).mean for n, key in (first, second)]
        assert values[0] != values[1]
        notes = " ".join(make_trial_tables({})[table].notes)
        other = f"table {first[0]}"
        if table == 13:  # noted where the odd one out is
            notes, other = " ".join(make_trial_tables({})[1].notes), "table 13"
        assert DATASET_NAMES[dataset] in notes
        assert other in notes or f"tables {first[0]}" in notes or "in tables" in notes
        assert f"{100 * values[0]:.0f}" in notes
        assert f"{100 * values[1]:.0f}" in notes


def test_what_is_compared_is_counted_once(tmp_path):
    """But where the report prints two figures for the same trials, both are."""
    for dataset in ("wnut17", "anem"):
        write_result(tmp_path, dataset, HASH, "default")
        write_result(tmp_path, dataset, LOOKUP, "default")
    tables = make_trial_tables(read_results(tmp_path))
    alike = [tables[9], tables[10]]
    cells = find_compared(alike, counts=False)
    assert cells == find_compared(alike[:1], counts=False)
    assert len(cells) == 2 * 6
    # MHE on AnEM has 0.78 in both, but on WNUT 0.23 in one and 0.27 in the other
    printed = [
        cell.printed.mean
        for cell in find_compared([tables[13], tables[15]], counts=False)
    ]
    assert printed == [0.23, 0.78, 0.27, 0.23, 0.67]
    assert find_compared(tables.values(), counts=True) == []
