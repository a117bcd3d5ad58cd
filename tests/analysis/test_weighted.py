"""What weighted tables make of the values of a corpus."""

import numpy as np
import pytest

from spacy_hashembeds.analysis.advice import advise
from spacy_hashembeds.analysis.features import Vocabulary
from spacy_hashembeds.analysis.measures import Measures, measure_table, measure_words
from spacy_hashembeds.layers.weightedhashembed import WeightedColumn

from .tables import make_weighted_table
from .words import collect


@pytest.fixture(scope="module")
def many() -> Vocabulary:
    """10,000 words, seen once each."""
    return collect(" ".join(f"word{i}" for i in range(10_000)))


def measure(table: WeightedColumn, vocabulary: Vocabulary) -> Measures:
    return measure_table(table, {"train": vocabulary})


def test_one_row_counted_by_hand():
    words = collect("a b c")
    symbols = words.count_values("NORM")[0][:2]
    measures = measure(make_weighted_table(rows=1, symbols=symbols), words)
    assert (measures["values"], measures["load"]) == (3, 3)
    assert measures["importance_rows"] == 3
    assert measures["sharing_components"] == 3
    # each symbol has weights of its own, and one value is left
    assert measures["sharing_weights"] == measures["sharing_code"] == 0
    assert measures["expected_sharing_code"] == 0
    assert measures["rows_never_reached"] == 0
    assert measures["rows_reached_by_hash"] == [1, 1]
    together = measure(make_weighted_table(rows=1, symbols=symbols[:1]), words)
    assert together["sharing_weights"] == together["sharing_code"] == 2
    assert together["expected_sharing_code"] == pytest.approx(2)
    nothing = measure(make_weighted_table(hashed_weights=5), collect(""))
    for key in ("values", "sharing_code", "expected_sharing_code"):
        assert nothing[key] == 0
    assert nothing["rows_never_reached"] == 5000


def test_weights_tell_apart_what_shares_components(many):
    measures = measure(make_weighted_table(rows=70, hashed_weights=50_000), many)
    assert measures["sharing_components"] > 9_000
    assert 1000 < measures["sharing_weights"] < 2500
    assert measures["sharing_code"] == pytest.approx(0, abs=5)
    assert measure_words([make_weighted_table(rows=70)], many)["sharing_codes"] > 8_000
    weighted = make_weighted_table(rows=70, hashed_weights=50_000)
    assert measure_words([weighted], many)["sharing_codes"] == measures["sharing_code"]


@pytest.mark.parametrize(
    "settings",
    [
        {"rows": 30, "hashed_weights": 20},
        {"rows": 5000, "hashed_weights": 20_000, "same_hash": True},
        {"rows": 150, "symbols": np.zeros(0, "uint64")},
        {"rows": 5000, "symbols": np.zeros(0, "uint64"), "same_hash": True},
    ],
)
def test_what_is_measured_is_near_what_is_expected(many, settings):
    # a seed far from 8: two hashes from those next to it are not quite independent
    measures = measure(make_weighted_table(**settings, seed=42), many)
    assert measures["sharing_code"] > 1000
    assert measures["sharing_code"] == pytest.approx(
        measures["expected_sharing_code"], rel=0.05
    )


def test_the_share_of_tokens_without_weights_of_their_own():
    train, dev = collect("a a a b b c"), collect("a x y y")
    values, counts = train.count_values("NORM")
    table = make_weighted_table(symbols=values[counts >= 2])
    measures = measure_table(table, {"train": train, "dev": dev})
    assert measures["unknown_share"] == pytest.approx({"train": 1 / 6, "dev": 3 / 4})
    assert measure(make_weighted_table(hashed_weights=5), train)["unknown_share"] == {}


def test_a_poor_seed_is_told(many):
    table = make_weighted_table(seed=8, hashed_weights=20_000)
    measures = measure(table, many)
    assert measures["rows_reached_by_hash"][0] <= 2500
    assert measures["with_sound_seed"] is not None
    assert measures["with_sound_seed"]["rows_reached_by_hash"][0] > 4000
    reasons = advise({"train": many}, ["NORM"], width=96, tables=[measures]).reasons
    (poor,) = [reason for reason in reasons if "a poor one" in reason]
    assert "of 5,000 component vectors (seed 9: 4," in poor
    assert "share their component vectors and weights with another" in poor
    assert "use spacy-hashembeds.MultiWeightedHashEmbed.v1 with seed = 9." in poor
    measures = measure(make_weighted_table(), many)
    sound = advise({"train": many}, ["NORM"], width=96, tables=[measures]).reasons
    assert not any("a poor one" in reason for reason in sound)
