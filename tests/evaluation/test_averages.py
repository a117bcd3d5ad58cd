import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from spacy_hashembeds.evaluation.averages import AVERAGES, average_types
from spacy_hashembeds.evaluation.matching import match_spans
from spacy_hashembeds.evaluation.schemes import SchemeCounter

from .entities import N_TOKENS, pairs


def write_tags(keys: list[tuple[str, int, int]]) -> list[str]:
    tags = ["O"] * N_TOKENS
    for label, start, end in keys:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags


def average(golds, predicted) -> dict | None:
    counter = SchemeCounter()
    for gold, keys in zip(golds, predicted, strict=True):
        matches = match_spans(keys, gold, np.zeros(N_TOKENS, dtype=bool))
        counter.add({"ents": matches})
    return average_types(counter.summarize("ents")["strict"])


@given(st.lists(pairs(), min_size=1, max_size=4))
def test_averages_are_those_of_seqeval(docs):
    golds, predicted = zip(*docs, strict=True)
    ours = average(golds, predicted)
    if not any(golds) and not any(predicted):
        assert ours is None
        return
    assert ours is not None
    report = classification_report(
        [write_tags(keys) for keys in golds],
        [write_tags(keys) for keys in predicted],
        **{"mode": "strict", "scheme": IOB2, "zero_division": 0, "output_dict": True},
    )
    for name in AVERAGES:
        theirs = report[f"{name} avg"]
        for key, score in zip("prf", ("precision", "recall", "f1-score"), strict=True):
            assert ours[name][key] == pytest.approx(theirs[score], rel=1e-12, abs=1e-15)


def test_averages_of_three_types():
    golds = [[("X", 0, 1), ("X", 2, 3), ("Y", 4, 5)]]
    predicted = [[("X", 0, 1), ("Z", 6, 7)]]
    assert average(golds, predicted) == {
        "micro": {"p": 1 / 2, "r": 1 / 3, "f": pytest.approx(2 / 5)},
        "macro": {
            "p": pytest.approx(1 / 3),
            "r": pytest.approx(1 / 6),
            "f": pytest.approx(2 / 9),
        },
        "weighted": {
            "p": pytest.approx(2 / 3),
            "r": pytest.approx(1 / 3),
            "f": pytest.approx(4 / 9),
        },
    }
