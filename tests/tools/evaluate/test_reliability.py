"""How sure a pipeline is of its entities, and how often it is right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds import evaluate
from spacy_hashembeds.tools.evaluate.reliability import (
    ScoreCollector,
    measure_calibration,
)
from spacy_hashembeds.training.scorer import match_entities

from ... import toy_ner
from ...components.toy_recognizers import make_examples, make_pipeline, train


def get_error(scores, is_right) -> float:
    """The expected calibration error, an entity after the other."""
    bins: dict[int, list[int]] = {}
    for i, score in enumerate(scores):
        # of bins from above 0, 0.1 …; what is 0 is in the first
        place = next(k for k in range(10) if score <= (k + 1) / 10)
        bins.setdefault(place, []).append(i)
    total = 0.0
    for members in bins.values():
        right = sum(is_right[i] for i in members) / len(members)
        sure = sum(scores[i] for i in members) / len(members)
        total += len(members) / len(scores) * abs(right - sure)
    return total


def test_an_example_by_hand():
    scores = [0.95, 0.91, 0.99, 0.55, 0.52, 0.05]
    found = measure_calibration(scores, [True, True, False, True, True, False])
    # 3 of 0.95 and 2/3 right, 2 of 0.535 and right, 1 of 0.05 and wrong
    expected = 3 / 6 * (0.95 - 2 / 3) + 2 / 6 * (1 - 0.535) + 1 / 6 * 0.05
    assert found["error"] == pytest.approx(expected)
    sizes = [each["entities"] for each in found["bins"]]
    assert sizes == [1, *[0] * 4, 2, *[0] * 3, 3]
    assert found["bins"][9] == {
        **{"above": 0.9, "to": 1.0, "entities": 3},
        **{"mean_score": pytest.approx(0.95), "precision": pytest.approx(2 / 3)},
    }
    empty = {"entities": 0, "mean_score": None, "precision": None}
    assert found["bins"][1] == {"above": 0.1, "to": 0.2, **empty}


# what is next to a bound may be on either side of it, by rounding
SCORES = st.sampled_from([0.0, 1.0]) | st.integers(1, 998).map(lambda n: n / 999)


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1))
def test_it_is_guo_s_definition(pairs):
    scores, is_right = zip(*pairs, strict=True)
    found = measure_calibration(scores, is_right)
    assert found["error"] == pytest.approx(get_error(scores, is_right))
    assert sum(each["entities"] for each in found["bins"]) == len(pairs)


@pytest.mark.parametrize(("score", "place"), [(0.0, 0), (0.1, 0), (0.5, 4), (1.0, 9)])
def test_upper_bounds_are_in_their_bin(score, place):
    bins = measure_calibration([score], [True])["bins"]
    assert [each["entities"] for each in bins].index(1) == place


# Of docs.


def predict(text: str, scores: object, *, key: str = "found", **others: object) -> Doc:
    """A doc with entities, and these and other scores for them by group."""
    doc = toy_ner.make_doc(text)
    for name, values in {key: scores, **others}.items():
        doc.spans[name] = SpanGroup(doc, spans=doc.ents, attrs={"scores": values})
    return doc


OPTIONS = {"train": [], "samples": 10, "show_progress": False}
GOLDS = ["Anna|PER saw Rome|LOC and Oslo|LOC", "Dora|PER"]


def run(predicted: list[Doc], golds: list[str] | list[Doc]):
    docs = [toy_ner.make_doc(g) if isinstance(g, str) else g for g in golds]
    return evaluate(predicted, docs, **OPTIONS)


@pytest.fixture
def predicted() -> list[Doc]:
    scores = np.array([0.9, 0.5, 0.7], "f")
    first = predict("Anna|PER saw Rome|PER and Oslo|LOC", scores)
    return [first, predict("Dora|PER", np.array([0.25], "f"))]


def test_entities_are_right_by_span_and_type_in_all_forms(predicted):
    evaluation = run(predicted, GOLDS)
    found = evaluation["calibration"]
    assert (found["entities"], found["precision"]) == (4, 3 / 4)
    assert found["mean_score"] == pytest.approx((0.9 + 0.5 + 0.7 + 0.25) / 4)
    assert found["error"] == pytest.approx((0.1 + 0.5 + 0.3 + 0.75) / 4)
    for form in (evaluation.to_html(), evaluation.to_markdown()):
        assert "expected calibration error: 41.25" in form
    assert "| 40 to 50 | 50.00 | 0.00 | -50.00 | 1 |" in evaluation.to_markdown()


def test_without_scores_nothing_is_said(predicted):
    for doc in predicted:
        doc.spans["found"].attrs = {}
    evaluation = run(predicted, GOLDS)
    assert evaluation["calibration"] is None
    assert "calibration" not in evaluation.to_html()


def test_entities_without_a_score_or_annotation_are_left_out(predicted):
    """Such as those of an entity ruler before."""
    doc = predicted[0]
    doc.ents = [*doc.ents, Span(doc, 1, 2, label="RULE")]
    found = run(predicted, GOLDS)
    assert found["calibration"]["entities"] == 4
    assert found["ents_p"] == 3 / 5
    gold = toy_ner.make_doc(GOLDS[0])
    gold.set_ents([], missing=[gold[2:3]], default="unmodified")
    found = run(predicted, [gold, GOLDS[1]])["calibration"]
    assert (found["entities"], found["precision"]) == (3, 1)


@pytest.mark.parametrize(
    "scores",
    [[1.5], [-0.1], [float("nan")], [0.5, 0.5], [[0.5]], ["high"], "high", None, {}],
    ids=str,
)
def test_other_scores_are_left_out(predicted, scores):
    expected = run(predicted, GOLDS)["calibration"]
    docs = [*predicted, predict("Emil|PER", [0.5], other=scores)]
    docs += [predict("Emil|PER", [bound]) for bound in (0, 1)]  # which are scores
    docs[0].spans["other"] = SpanGroup(docs[0], spans=docs[0].ents)
    docs[0].spans["other"].attrs["scores"] = [0.1] * 3
    found = run(docs, [*GOLDS, *["Emil|PER"] * 3])["calibration"]
    assert found["entities"] == expected["entities"] + 3
    assert found["precision"] == 6 / 7


def test_of_two_in_one_gold_entity_the_first_is_right():
    gold = Doc(Vocab(), words=["AB"], spaces=[False], ents=["B-X"])
    doc = Doc(gold.vocab, words=["A", "B"], spaces=[False] * 2, ents=["B-X", "B-X"])
    doc.spans["found"] = SpanGroup(doc, spans=doc.ents, attrs={"scores": [0.9, 0.3]})
    example = Example(doc, gold)
    collector = ScoreCollector()
    collector.add(example, match_entities(example, ())["ents"])
    found = collector.summarize()
    assert (found["entities"], found["precision"]) == (2, 1 / 2)
    assert found["error"] == pytest.approx((0.1 + 0.3) / 2)


def test_a_token_ner_with_a_spans_key_is_measured(tmp_path):
    nlp = train(make_pipeline(spans_key="found"), steps=12)
    examples = make_examples(nlp, toy_ner.TEST)
    evaluation = evaluate(nlp, examples, **OPTIONS)
    found = evaluation["calibration"]
    docs = list(nlp.pipe(eg.predicted for eg in make_examples(nlp, toy_ner.TEST)))
    scores = np.concatenate([doc.spans["found"].attrs["scores"] for doc in docs])
    assert found["entities"] == len(scores) > 0
    assert found["mean_score"] == pytest.approx(scores.mean())
    assert found["precision"] == evaluation["ents_p"]
    # predictions in a file have them too
    path = toy_ner.write(tmp_path / "predicted.spacy", docs)
    golds = [eg.reference for eg in examples]
    again = evaluate(toy_ner.read(path), golds, **OPTIONS)
    assert again["calibration"] == found
