"""Measures of each kind of table."""

import numpy as np
import pytest
from spacy.strings import StringStore

from spacy_hashembeds.layers.tableembed import TableColumn
from spacy_hashembeds.tools.analyze.corpus import Vocabulary
from spacy_hashembeds.tools.analyze.embedders import (
    Measures,
    measure_table,
    measure_words,
)

from .tables import collect, make_hash_table, make_lookup_table, make_weighted_table

NORMS = np.array([StringStore().add(f"word{i}") for i in range(50_000)], dtype="uint64")
SEEN = collect("a a a b b c")


def measure(table: TableColumn, values: np.ndarray) -> Measures:
    words, counts = np.stack([values, values], axis=1), np.ones(len(values), "int64")
    vocabulary = Vocabulary(attrs=("NORM",), words=words, counts=counts)
    return measure_table(table, {"train": vocabulary})


def test_seed_8_halves_the_rows_of_hash_1():
    measures = measure(make_hash_table(seed=8), NORMS)
    assert measures["rows_reached_by_hash"] == [2500, 5000, 5000, 5000]
    assert measures["sharing_code"] > 0 == round(measures["expected_sharing_code"])
    sound = measure(make_hash_table(seed=9), NORMS)
    assert (sound["sharing_code"], sound["rows_reached_by_hash"]) == (0, [5000] * 4)
    weighted = make_weighted_table(seed=8, hashed_weights=20_000)
    assert measure(weighted, NORMS)["rows_reached_by_hash"][0] == 2500


#: Default seed 42: hashes of seeds next to 8 are not independent.
TABLES = [
    (make_hash_table, {"rows": 300, "num_hashes": 2, "seed": 42}),
    (make_hash_table, {"rows": 90, "num_hashes": 4, "seed": 9}),
    (make_weighted_table, {"rows": 5000, "hashed_weights": 50_000, "same_hash": True}),
    (make_weighted_table, {"rows": 300, "symbols": np.sort(NORMS[:25_000])}),
]


@pytest.mark.parametrize(("make", "settings"), TABLES)
def test_measured_collisions_are_near_expected_ones(make, settings):
    measures = measure(make(**{"seed": 42, **settings}), NORMS)
    assert measures["values"] == 50_000
    shared, expected = measures["sharing_code"], measures["expected_sharing_code"]
    if make is make_hash_table:
        assert shared == pytest.approx(expected, rel=0.01, abs=100)
        assert measures["parameters"] == settings["rows"] * 96
        unused = measures["rows_never_reached"]
        assert unused == pytest.approx(measures["expected_rows_never_reached"], rel=0.2)
        for count in measures["sharing_row_by_hash"]:
            assert count == pytest.approx(measures["expected_sharing_row"], rel=0.01)
    else:
        assert shared > 1000
        assert shared == pytest.approx(expected, rel=0.05)


def test_measures_of_tables_with_few_rows():
    measures = measure(make_hash_table(rows=1, num_hashes=2), NORMS[:3])
    assert measures["sharing_row_by_hash"] == [3, 3]
    assert measures["sharing_code"] == measures["values"] == 3
    assert measures["rows_never_reached"] == 0
    alone = measure(make_hash_table(rows=7, num_hashes=1), NORMS[:1])
    assert alone["sharing_row_by_hash"] == [alone["sharing_code"]] == [0]
    assert alone["rows_never_reached"] == 6
    for table in (make_hash_table(rows=7), make_weighted_table(rows=7)):
        nothing = measure(table, NORMS[:0])
        assert nothing["rows_never_reached"] == 7
        assert nothing["values"] == nothing["sharing_code"] == 0


@pytest.mark.parametrize(("known", "unknown"), [(3, 0), (2, 0), (1, 2)])
def test_measures_of_weighted_tables(known, unknown):
    symbols = SEEN.count_values("NORM")[0][:known]
    table = make_weighted_table(rows=1, symbols=symbols)
    measures = measure_table(table, {"train": SEEN})
    assert measures["rows"] == 1
    parts = {"components": 96, "weights": 2 * (known + 1)}
    assert (measures["parts"], measures["parameters"]) == (parts, sum(parts.values()))
    assert measures["sharing_components"] == 3
    # only unknown values share weights
    assert measures["sharing_weights"] == measures["sharing_code"] == unknown
    assert measures["expected_sharing_code"] == pytest.approx(unknown)
    assert measures["rows_reached_by_hash"] == [1, 1]


def test_unknown_values_and_tokens_are_counted():
    values, counts = SEEN.count_values("NORM")
    symbols = values[counts >= 2]
    splits = {"train": SEEN, "dev": collect("a x y"), "test": collect("")}
    shares = {"train": 1 / 6, "dev": 2 / 3, "test": 0}
    lookup = make_lookup_table("NORM", 10, symbols)
    for table in (lookup, make_weighted_table(symbols=symbols)):
        measures = measure_table(table, splits)
        assert measures["unknown_values"] == 1
        found = {split: measures[f"unknown_in_{split}"] for split in shares}
        assert found == pytest.approx(shares)
    measures = measure_table(lookup, splits)
    assert (measures["rows"], measures["parameters"]) == (3, 30)


def test_words_that_share_codes():
    # norms: the, cat, dog; shapes: Xxx, xxx
    words = collect("The the Cat cat dog")
    apart, together = make_hash_table(rows=5000), make_hash_table(rows=1)
    shape = make_hash_table("SHAPE", seed=10)
    assert measure_words([apart, shape], words)["sharing_codes"] == 0
    by_norm = measure_words([apart], words)
    assert by_norm == {"words": 5, "same_attributes": 4, "sharing_codes": 4}
    # distinguished by shape only: The, Cat; the, cat, dog
    by_shape = measure_words([together, shape], words)
    assert by_shape == {"words": 5, "same_attributes": 0, "sharing_codes": 5}
    for known, sharing in (("the", 2), ("dog", 4), ("cow", 5)):
        symbols = np.array([StringStore().add(known)], dtype="uint64")
        for table in (
            make_lookup_table("NORM", 96, symbols),
            make_weighted_table(rows=1, symbols=symbols),
        ):
            assert measure_words([table, shape], words)["sharing_codes"] == sharing
    nothing = measure_words([apart, shape], collect(""))
    assert nothing == {"words": 0, "same_attributes": 0, "sharing_codes": 0}
