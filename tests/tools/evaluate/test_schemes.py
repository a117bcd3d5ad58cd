import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from nervaluate.evaluator import Evaluator
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from spacy_hashembeds.tools.evaluate.schemes import (
    AVERAGES,
    OUTCOMES,
    SCHEMES,
    SchemeCounter,
    average_types,
)
from spacy_hashembeds.training.scorer import match_spans

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


def summarize(docs):
    counter = SchemeCounter()
    for golds, predicted in docs:
        missing = np.zeros(60, dtype=bool)
        counter.add({"ents": match_spans(predicted, golds, missing)})
    return counter.summarize("ents")


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
    found = summarize([(GOLD, PREDICTED)])[scheme]
    assert [found[name] for name in OUTCOMES] == expected
    assert [found[key] for key in "prf"] == [pytest.approx(score)] * 3
    # of a type alone, others are left out
    assert found["per_type"]["GROUP"]["missed"] == 1
    assert found["per_type"]["BRAND"]["spurious"] == 2


def write(keys):
    return [{"label": label, "start": i, "end": end - 1} for label, i, end in keys]


@given(st.lists(pairs(), max_size=4))
def test_they_are_those_of_nervaluate_on_whole_docs(docs):
    sides = ([write(doc[i]) for doc in docs] for i in (0, 1))
    results = Evaluator(*sides, tags=list("XYZ"), loader="dict").evaluate()
    for scheme, score in summarize(docs).items():
        scores = [(score, results["overall"].get(scheme))]
        for label, of_type in (score or {"per_type": {}})["per_type"].items():
            scores.append((of_type, results["entities"][label][scheme]))
        for ours, other in scores:
            names = (*OUTCOMES, "precision", "recall", "f1")
            expected = [getattr(other, name, 0) for name in names]
            found = [(ours or {}).get(name, 0) for name in (*OUTCOMES, *"prf")]
            assert found == pytest.approx(expected)


def test_of_predictions_that_overlap_the_right_one_chooses_first():
    """As they may after alignment."""
    golds, predicted = [("X", 1, 3)], [("X", 0, 2), ("X", 1, 3)]
    summary = summarize([(golds, predicted)])
    for scheme in SCHEMES:
        assert summary[scheme]["correct"] == summary[scheme]["spurious"] == 1


def write_tags(keys) -> list[str]:
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
