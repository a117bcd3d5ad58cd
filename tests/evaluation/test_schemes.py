from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from nervaluate.evaluator import Evaluator
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from spacy_hashembeds.evaluation.schemes import (
    AVERAGES,
    OUTCOMES,
    SCHEMES,
    SchemeCounter,
    average_types,
    count_outcomes,
    score_outcomes,
)
from spacy_hashembeds.evaluation.scorer import match_spans

from .entities import N_TOKENS, pairs

# The example of SemEval and of nervaluate's README, with its scenarios.
GOLD = [
    ("DRUG", 0, 1),  # III, missed
    ("DRUG", 10, 11),  # V, predicted with a word before it
    ("DRUG", 20, 21),  # IV, predicted as another type
    ("DRUG", 30, 31),  # I, found
    ("DRUG", 40, 41),  # found too
    ("GROUP", 50, 51),  # VI, both
]
PREDICTED = [
    ("BRAND", 5, 6),  # II, spurious
    ("DRUG", 9, 11),
    ("BRAND", 20, 21),
    ("DRUG", 30, 31),
    ("DRUG", 40, 41),
    ("DRUG", 49, 51),
]


def count(golds, predicted, scheme: str) -> list[int]:
    counts = count_outcomes(golds, predicted, scheme)
    return [counts[name] for name in OUTCOMES]


@pytest.mark.parametrize(
    ("scheme", "expected", "score"),
    [
        ("ent_type", [3, 2, 0, 1, 1], 3 / 6),
        ("partial", [3, 0, 2, 1, 1], 4 / 6),
        ("exact", [3, 2, 0, 1, 1], 3 / 6),
        ("strict", [2, 3, 0, 1, 1], 2 / 6),
    ],
)
def test_the_published_example(scheme, expected, score):
    assert count(GOLD, PREDICTED, scheme) == expected
    scores = score_outcomes(count_outcomes(GOLD, PREDICTED, scheme))
    assert scores is not None
    assert [scores[key] for key in "prf"] == [pytest.approx(score)] * 3


# Who is paired with whom, where several share tokens. The outcomes are those that
# nervaluate 1.2.1 gives: strict, exact, partial, ent_type.
PAIRS = {
    "a gold entity in two parts, the wrong type first": (
        [("PER", 0, 2)],
        [("LOC", 0, 1), ("PER", 1, 2)],
        [[0, 1, 0, 0, 1], [0, 1, 0, 0, 1], [0, 0, 1, 0, 1], [0, 1, 0, 0, 1]],
    ),
    "a prediction over two gold entities, the other one of its type": (
        [("PER", 0, 1), ("LOC", 1, 3)],
        [("LOC", 0, 3)],
        [[0, 1, 0, 1, 0], [0, 1, 0, 1, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 0]],
    ),
    "a chain, in which the first overlap leaves one for the next": (
        [("PER", 0, 1), ("PER", 1, 4)],
        [("PER", 0, 3), ("PER", 3, 4)],
        [[0, 2, 0, 0, 0], [0, 2, 0, 0, 0], [0, 0, 2, 0, 0], [2, 0, 0, 0, 0]],
    ),
    "of two of its type the nearer, so that the other is left": (
        [("PER", 0, 1), ("PER", 2, 6)],
        [("PER", 0, 5), ("LOC", 5, 6)],
        [[0, 2, 0, 0, 0], [0, 2, 0, 0, 0], [0, 0, 2, 0, 0], [1, 0, 0, 1, 1]],
    ),
    "the nearer by both bounds, which comes second": (
        [("PER", 0, 5), ("PER", 5, 12)],
        [("PER", 4, 10), ("LOC", 10, 12)],
        [[0, 2, 0, 0, 0], [0, 2, 0, 0, 0], [0, 0, 2, 0, 0], [1, 0, 0, 1, 1]],
    ),
    "neighbours share nothing": ([("X", 0, 2)], [("X", 2, 3)], [[0, 0, 0, 1, 1]] * 4),
    "nothing at all": ([], [], [[0] * 5] * 4),
}


@pytest.mark.parametrize("name", PAIRS)
def test_several_that_share_tokens_are_paired_as_in_nervaluate(name):
    golds, predicted, expected = PAIRS[name]
    for step in (1, -1):  # in whatever order they come
        found = (count(golds[::step], predicted[::step], each) for each in SCHEMES)
        assert [*found] == expected


def test_predictions_that_overlap_leave_what_is_right_to_one_that_has_it():
    golds, predicted = [("PER", 0, 1)], [("LOC", 0, 1), ("PER", 0, 1)]
    for scheme in SCHEMES:
        assert count(golds, predicted, scheme) == [1, 0, 0, 0, 1]


def test_nothing_to_divide_by_is_zero_and_nothing_at_all_none():
    assert score_outcomes(Counter()) is None
    scores = score_outcomes(Counter(spurious=2))
    assert scores is not None
    assert [scores[key] for key in "prf"] == [0, 0, 0]


def summarize(docs) -> dict:
    """Score gold and predicted entities of docs by all schemes."""
    counter = SchemeCounter()
    for golds, predicted in docs:
        missing = np.zeros(N_TOKENS, dtype=bool)
        counter.add({"ents": match_spans(predicted, golds, missing)})
    return counter.summarize("ents")


@given(st.lists(pairs(), min_size=1, max_size=3))
def test_all_is_as_in_nervaluate(docs):
    golds, predicted = (
        [write(keys) for keys in side] for side in zip(*docs, strict=True)
    )
    theirs = Evaluator(golds, predicted, tags=list("XYZ"), loader="dict")
    results = theirs.evaluate()
    for scheme, score in summarize(docs).items():
        scores = [(score, results["overall"][scheme])]
        for label, of_type in (score or {"per_type": {}})["per_type"].items():
            scores.append((of_type, results["entities"][label][scheme]))
        for ours, other in scores:
            expected = [getattr(other, name) for name in (*OUTCOMES, *NAMES)]
            found = [(ours or Counter())[name] for name in (*OUTCOMES, *"prf")]
            assert found == pytest.approx(expected)


NAMES = ("precision", "recall", "f1")


def write(keys: list[tuple[str, int, int]]) -> list[dict]:
    return [{"label": label, "start": i, "end": end - 1} for label, i, end in keys]


# Averages over types.


def write_tags(keys: list[tuple[str, int, int]]) -> list[str]:
    tags = ["O"] * N_TOKENS
    for label, start, end in keys:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags


@given(st.lists(pairs(), min_size=1, max_size=4))
def test_averages_are_those_of_seqeval(docs):
    golds, predicted = zip(*docs, strict=True)
    ours = average_types(summarize(docs)["strict"])
    if not any(golds) and not any(predicted):
        assert ours is None
        return
    report = classification_report(
        [write_tags(keys) for keys in golds],
        [write_tags(keys) for keys in predicted],
        **{"mode": "strict", "scheme": IOB2, "zero_division": 0, "output_dict": True},
    )
    for name in AVERAGES:
        theirs = report[f"{name} avg"]
        for key, score in zip("prf", ("precision", "recall", "f1-score"), strict=True):
            assert ours[name][key] == pytest.approx(theirs[score], rel=1e-12, abs=1e-15)
