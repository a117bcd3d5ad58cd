"""Advice on embedders."""

import pytest

from spacy_hashembeds.tools.analyze.advice import advise, find_fewest_rows
from spacy_hashembeds.tools.analyze.corpus import Vocabulary
from spacy_hashembeds.tools.analyze.embedders import (
    Measures,
    count_sharing,
    measure_table,
)
from spacy_hashembeds.training.annotation import SETTABLE

from .tables import NO_SYMBOLS, collect, make_hash_table, make_lookup_table

FOUR = ["NORM", "SHAPE", "LOWER", "POS"]


@pytest.fixture(scope="module")
def train() -> Vocabulary:
    words = [f"w{i}x{i % 7}" for i in range(2000)]
    return collect(" ".join([*words, *words[:500]]), attrs=FOUR)


def measure(train: Vocabulary, **settings) -> Measures:
    return measure_table(make_hash_table(width=8, **settings), {"train": train})


def advise_on(train: Vocabulary, tables: list[Measures], **settings) -> Measures:
    return advise(train, {"component": "tok2vec", "tables": tables}, **settings)


def find_reason(advice: Measures, start: str) -> str:
    (reason,) = [text for text in advice["reasons"] if text.startswith(start)]
    return reason


@pytest.mark.parametrize("bound", [0.001, 0.05])
def test_smallest_hash_tables_within_a_bound(train, bound):
    found = find_fewest_rows(train, ["NORM", "LOWER"], bound)
    # solves V (k! V / n^k) = bound V for n
    least = (24 * 2000 / bound) ** 0.25
    values, _ = train.count_values("NORM")
    for seed, rows in enumerate(found.values(), start=9):
        table = make_hash_table(rows=rows, seed=seed)
        assert count_sharing(table.identify(values)) <= bound * len(values)
        assert 0.95 * least <= rows <= 1.25 * least


def test_rows_of_hash_tables_are_a_lower_limit(train):
    tables = [measure(train), measure(train, attr="SHAPE")]
    advice = advise_on(train, tables)
    rows = [*find_fewest_rows(train, ["NORM", "SHAPE"], 0.001).values()]
    size = 8 * sum(rows)
    assert advice["hashing"] == {"num_hashes": 4, "rows": rows, "parameters": size}
    text = find_reason(advice, "For hash tables: spacy-hashembeds.MultiFewerHash")
    assert f"{size:,} parameters, is NORM {rows[0]}, SHAPE" in text
    assert "0.1% of the values" in text


@pytest.mark.parametrize(
    ("rows", "min_freq", "n_rows"),
    [((460, 41), 2, 501), ((460, 40), 3, 1), ((0, 0), 20, 1)],
)
def test_lowest_min_freq_with_at_most_the_present_rows(train, rows, min_freq, n_rows):
    norm, pos = (measure(train, attr=attr) for attr in ("NORM", "POS"))
    advice = advise_on(train, [{**norm, "rows": rows[0]}, {**pos, "rows": rows[1]}])
    assert advice["attrs"] == ["NORM"]
    expected = {"min_freq": min_freq, "rows": [n_rows], "parameters": 8 * n_rows}
    assert advice["lookup"] == expected


def test_lookup_tables_are_limited_to_the_rows_of_spacy(train):
    lookup = measure_table(make_lookup_table("NORM", 8, NO_SYMBOLS), {"train": train})
    assert advise_on(train, [lookup])["lookup"]["min_freq"] == 2


def test_settable_attributes_are_kept_and_not_counted(train):
    rows = {"NORM": 501, "LOWER": 1, "POS": 9999}
    tables = [measure(train, attr=attr, rows=n) for attr, n in rows.items()]
    advice = advise_on(train, tables, settable=SETTABLE)
    assert advice["attrs"] == [*rows]
    assert len(advice["hashing"]["rows"]) == 3
    assert advice["lookup"]["min_freq"] == 3
    assert "earlier components" in find_reason(advice, "Keep POS with")


@pytest.mark.parametrize("n_words", [0, 2, 98, 100])
def test_there_is_no_advice_on_few_words(n_words):
    small = collect(" ".join(f"w{i} W{i} w{i}" for i in range(n_words // 2)))
    advice = advise_on(small, [measure(small, num_hashes=1, seed=8)])
    assert (advice["hashing"] is None) is (advice["lookup"] is None) is (n_words < 100)
    assert [reason[:11] for reason in advice["reasons"]] == {
        0: [],
        100: ["Start with ", "For hash ta", "For lookup ", "With seed 8"],
    }.get(n_words, ["The trainin", "With seed 8"])


def test_defects_of_present_tables_are_named(train):
    poor = measure(train, rows=100, num_hashes=1, seed=8)
    advice = advise_on(train, [poor])
    text = find_reason(advice, "With seed 8 hash 1 of NORM ")
    assert "reaches 50 of 100 rows, and 2,000 of 2,000 values" in text
    (least,) = advice["hashing"]["rows"]
    for rows, is_short in ((least - 1, True), (least, False)):
        advice = advise_on(train, [measure(train, rows=rows)])
        text = find_reason(advice, "For hash tables: ")
        assert ("but more for NORM" in text) is is_short
        assert not [reason for reason in advice["reasons"] if "seed 8" in reason]


def test_redundant_attributes_are_left_out(train):
    advice = advise_on(train, [measure(train, attr=attr) for attr in FOUR])
    assert advice["attrs"] == ["NORM", "SHAPE"]
    assert len(advice["hashing"]["rows"]) == len(advice["lookup"]["rows"]) == 2
    reasons = advice["reasons"]
    assert "Leave out LOWER: it separates the same words as NORM." in reasons
    assert "Leave out POS: all words have one value." in reasons
