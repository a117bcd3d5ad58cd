import numpy as np

from spacy_hashembeds.evaluation.matching import match_spans

GOLD = [("PER", 0, 2), ("LOC", 5, 6)]


def test_each_entity_is_correct_spurious_ignored_or_missed():
    missing = np.array([False] * 8 + [True])
    predicted = [("PER", 0, 2), ("PER", 5, 6), ("LOC", 7, 9), ("LOC", 0, 0)]
    matches = match_spans(predicted, GOLD, missing)
    assert matches.correct == (("PER", 0, 2),)
    assert matches.spurious == (("PER", 5, 6),)
    assert matches.ignored == (("LOC", 7, 9), ("LOC", 0, 0))
    assert matches.missed == (("LOC", 5, 6),)


def test_a_gold_entity_is_found_but_once():
    # Two predictions may be aligned with one gold token.
    matches = match_spans([("PER", 0, 2)] * 2, GOLD, np.zeros(9, dtype=bool))
    assert matches.correct == matches.spurious == (("PER", 0, 2),)
