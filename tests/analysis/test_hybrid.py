"""What hybrid tables make of the values of a corpus."""

import pytest

from spacy_hashembeds.analysis.features import Vocabulary
from spacy_hashembeds.analysis.measures import measure_table, measure_words
from spacy_hashembeds.layers.hybridembed import HybridColumn, HybridEmbed
from spacy_hashembeds.layers.symboltaker import Symbols, give_symbols

from .words import collect


def make_table(vocabulary: Vocabulary, *, min_freq: int, **settings) -> HybridColumn:
    defaults = {"rows": 5000, "key": "NORM", "num_hashes": 2, "seed": 9}
    values, counts = vocabulary.count_values("NORM")
    symbols = Symbols(values[counts >= min_freq], values[counts < min_freq])
    layer = HybridEmbed(96, **{**defaults, **settings})
    give_symbols(layer, symbols)
    return HybridColumn(layer, "NORM")


def test_one_hashed_row_counted_by_hand():
    words = collect("a a a b b c d e")
    table = make_table(words, min_freq=2, rows=3)
    splits = {"train": words, "dev": collect("a x y"), "test": collect("")}
    measures = measure_table(table, splits)
    assert (measures["rows"], measures["own_rows"]) == (3, 2)
    assert (measures["values"], measures["hashed_values"]) == (5, 3)
    assert measures["sharing_code"] == 3
    assert measures["expected_sharing_code"] == pytest.approx(3)
    assert measures["rows_never_reached"] == 0
    shares = {"train": 3 / 8, "dev": 2 / 3, "test": 0}
    assert measures["hashed_share"] == pytest.approx(shares)
    words_of_all = measure_words([table], words)
    assert (words_of_all["words"], words_of_all["sharing_codes"]) == (5, 3)


def test_what_is_measured_is_near_what_is_expected():
    """All rows are reached, and frequent values share none."""
    words = [f"word{i}" for i in range(10_000)]
    vocabulary = collect(" ".join([*words, *words[:1000]]))
    # a seed far from 8: two hashes from those next to it are not quite independent
    table = make_table(vocabulary, min_freq=2, rows=1100, seed=42)
    measures = measure_table(table, {"train": vocabulary})
    assert (measures["own_rows"], measures["hashed_values"]) == (1000, 9000)
    assert measures["rows_never_reached"] == 0
    assert measures["sharing_code"] > 1000
    expected = measures["expected_sharing_code"]
    assert measures["sharing_code"] == pytest.approx(expected, rel=0.05)
    assert (
        measure_words([table], vocabulary)["sharing_codes"] == measures["sharing_code"]
    )
    many = make_table(vocabulary, min_freq=2, rows=100_000, num_hashes=4)
    measures = measure_table(many, {"train": vocabulary})
    assert measures["rows_never_reached"] == measures["sharing_code"] == 0
    assert 1000 < measures["rows"] < 9000
