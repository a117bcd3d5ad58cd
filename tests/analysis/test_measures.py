import numpy as np
import pytest
from spacy.strings import StringStore

from spacy_hashembeds.analysis.features import Vocabulary
from spacy_hashembeds.analysis.measures import Measures, measure_table, measure_words
from spacy_hashembeds.layers.tableembed import TableColumn

from .tables import make_hash_table, make_lookup_table
from .words import collect

NORMS = np.array([StringStore().add(f"word{i}") for i in range(50_000)], dtype="uint64")


def measure(table: TableColumn, values: np.ndarray) -> Measures:
    words, counts = np.stack([values, values], axis=1), np.ones(len(values), "int64")
    vocabulary = Vocabulary(attrs=("NORM",), words=words, counts=counts)
    return measure_table(table, {"train": vocabulary})


def test_seed_8_halves_what_hash_1_reaches():
    measures = measure(make_hash_table(seed=8), NORMS)
    assert measures["rows_reached_by_hash"] == [2500, 5000, 5000, 5000]
    assert measures["sharing_code"] > 0
    instead = measures["with_sound_seed"]
    assert instead is not None
    assert (instead["seed"], instead["with_sound_seed"]) == (9, None)
    assert instead["rows_reached_by_hash"] == [5000] * 4
    assert instead["sharing_code"] == 0
    one = measure(make_hash_table(seed=8, num_hashes=1), NORMS)
    assert one["rows_never_reached"] == 2500
    assert one["with_sound_seed"]["rows_never_reached"] == 0


def test_what_is_measured_is_near_what_is_expected():
    table = make_hash_table(rows=20_000, num_hashes=2)
    measures = measure(table, NORMS)
    assert measures["parameters"] == 20_000 * 96
    assert (measures["values"], measures["load"]) == (50_000, 2.5)
    unused = measures["rows_never_reached"]
    assert unused == pytest.approx(measures["expected_rows_never_reached"], rel=0.2)
    for count in measures["sharing_row_by_hash"]:
        assert count == pytest.approx(measures["expected_sharing_row"], rel=0.01)
    # seed 42, since two hashes from the seeds next to 8 are not quite independent
    for settings in ({"num_hashes": 2, "seed": 42}, {"num_hashes": 4, "rows": 90}):
        small = measure(make_hash_table(**{"rows": 300, **settings}), NORMS)
        expected = small["expected_sharing_code"]
        assert small["sharing_code"] == pytest.approx(expected, rel=0.01, abs=100)
    assert measures["with_sound_seed"] is None


def test_few_rows_counted_by_hand():
    # with one row all is the same; a single value shares with none
    measures = measure(make_hash_table(rows=1, num_hashes=2), NORMS[:3])
    assert measures["sharing_row_by_hash"] == [3, 3]
    assert measures["sharing_code"] == measures["values"] == 3
    assert measures["rows_never_reached"] == 0
    alone = measure(make_hash_table(rows=7, num_hashes=1), NORMS[:1])
    assert alone["sharing_row_by_hash"] == [alone["sharing_code"]] == [0]
    assert alone["rows_never_reached"] == 6
    nothing = measure(make_hash_table(rows=7), NORMS[:0])
    assert nothing["rows_never_reached"] == nothing["expected_rows_never_reached"] == 7
    assert nothing["load"] == nothing["sharing_code"] == 0


def test_unknown_values_and_tokens_are_counted():
    train = collect("a a a b b c d")
    values, counts = train.count_values("NORM")
    table = make_lookup_table("NORM", 10, values[counts >= 2])
    splits = {"train": train, "dev": collect("a x y"), "test": collect("")}
    measures = measure_table(table, splits)
    assert (measures["rows"], measures["parameters"]) == (3, 30)
    assert (measures["values"], measures["unknown_values"]) == (4, 2)
    shares = {"train": 2 / 7, "dev": 2 / 3, "test": 0}
    assert measures["unknown_share"] == pytest.approx(shares)


def test_words_that_tables_do_not_tell_apart():
    # norms: the, cat, dog; shapes: Xxx, xxx
    words = collect("The the Cat cat dog")
    apart = make_hash_table(rows=5000)
    together = make_hash_table(rows=1)
    shape = make_hash_table("SHAPE", seed=10)
    assert measure_words([apart, shape], words)["sharing_codes"] == 0
    by_norm = measure_words([apart], words)
    assert by_norm == {"words": 5, "same_attributes": 4, "sharing_codes": 4}
    # shapes alone are left: The, Cat; the, cat, dog
    assert measure_words([together, shape], words)["sharing_codes"] == 5
    assert measure_words([together, shape], words)["same_attributes"] == 0
    strings = StringStore()
    for known, sharing in (("the", 2), ("dog", 4), ("cow", 5)):
        symbols = np.array([strings.add(known)], dtype="uint64")
        lookup = make_lookup_table("NORM", 96, symbols)
        assert measure_words([lookup, shape], words)["sharing_codes"] == sharing
    nothing = measure_words([apart, shape], collect(""))
    assert nothing == {"words": 0, "same_attributes": 0, "sharing_codes": 0}
