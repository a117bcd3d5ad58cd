"""Measures of entities beside their scores, beside nervaluate's and seqeval's."""

from itertools import accumulate, groupby

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from nervaluate.evaluator import Evaluator
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds import evaluate
from spacy_hashembeds.tools.evaluate.measures import (
    AVERAGES,
    OUTCOMES,
    SCHEMES,
    ScoreCollector,
    average_types,
    measure_calibration,
    score_schemes,
)
from spacy_hashembeds.training.scorer import match_entities, match_spans

from ... import toy_ner
from ...components.toy_recognizers import make_examples, make_pipeline, train

N_TOKENS = 16
TAGS = st.lists(
    st.sampled_from("OOXYZ"), min_size=N_TOKENS // 2, max_size=N_TOKENS // 2
)


def find_entities(tags) -> list[tuple[str, int, int]]:
    ends = [*accumulate(len([*run]) for _, run in groupby(tags))]
    labels = [label for label, _ in groupby(tags)]
    return [
        each
        for each in zip(labels, [0, *ends[:-1]], ends, strict=True)
        if each[0] != "O"
    ]


@st.composite
def pairs(draw) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    """The entities of a gold doc, and predicted ones that differ here and there."""
    gold, other = ([tag for tag in draw(TAGS) for _ in range(2)] for _ in range(2))
    is_right = draw(st.lists(st.booleans(), min_size=N_TOKENS, max_size=N_TOKENS))
    both = zip(gold, other, is_right, strict=True)
    predicted = [tag if right else wrong for tag, wrong, right in both]
    return find_entities(gold), find_entities(predicted)


def summarize(docs):
    missing = np.zeros(60, dtype=bool)
    found = ({"ents": match_spans(got, golds, missing)} for golds, got in docs)
    return score_schemes(found, "ents")


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


# Calibration.


def test_an_example_by_hand():
    scores = [0.95, 0.91, 0.99, 0.55, 0.52, 0.05]
    found = measure_calibration(scores, [True, True, False, True, True, False])
    # 3 of 0.95 and 2/3 right, 2 of 0.535 and right, 1 of 0.05 and wrong
    expected = 3 / 6 * (0.95 - 2 / 3) + 2 / 6 * (1 - 0.535) + 1 / 6 * 0.05
    assert found["error"] == pytest.approx(expected)
    assert [each["entities"] for each in found["bins"]] == [1, *[0] * 4, 2, *[0] * 3, 3]
    assert found["bins"][9]["mean_score"] == pytest.approx(0.95)
    assert found["bins"][9]["precision"] == pytest.approx(2 / 3)
    assert (found["bins"][9]["above"], found["bins"][9]["to"]) == (0.9, 1.0)


@pytest.mark.parametrize(("score", "place"), [(0.0, 0), (0.1, 0), (0.5, 4), (1.0, 9)])
def test_upper_bounds_are_in_their_bin(score, place):
    bins = measure_calibration([score], [True])["bins"]
    assert [each["entities"] for each in bins].index(1) == place


def predict(text: str, **scores: object) -> Doc:
    """A doc with entities, and scores for them by group."""
    doc = toy_ner.make_doc(text)
    for name, values in scores.items():
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
    first = predict("Anna|PER saw Rome|PER and Oslo|LOC", found=scores)
    return [first, predict("Dora|PER", found=np.array([0.25], "f"))]


def test_entities_are_right_by_span_and_type_in_all_forms(predicted):
    evaluation = run(predicted, GOLDS)
    found = evaluation["calibration"]
    assert (found["entities"], found["precision"]) == (4, 3 / 4)
    assert found["mean_score"] == pytest.approx((0.9 + 0.5 + 0.7 + 0.25) / 4)
    assert found["error"] == pytest.approx((0.1 + 0.5 + 0.3 + 0.75) / 4)
    assert "calibration error: 41.25" in evaluation.to_html()
    assert "| to 0.5 | 50.00 | 0.00 | 1 |" in evaluation.to_markdown()


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
    for doc in predicted:
        doc.spans["found"].attrs = {}
    assert run(predicted, GOLDS)["calibration"] is None


@pytest.mark.parametrize(
    "scores",
    [[1.5], [-0.1], [float("nan")], [0.5, 0.5], [[0.5]], "high", None],
    ids=str,
)
def test_other_scores_are_left_out(predicted, scores):
    docs = [*predicted, predict("Emil|PER", found=[0.5], other=scores)]
    docs += [predict("Emil|PER", found=[bound]) for bound in (0, 1)]
    docs[0].spans["other"] = SpanGroup(docs[0], spans=docs[0].ents)
    docs[0].spans["other"].attrs["scores"] = [0.1] * 3
    found = run(docs, [*GOLDS, *["Emil|PER"] * 3])["calibration"]
    assert (found["entities"], found["precision"]) == (7, 6 / 7)


def test_of_two_in_one_gold_entity_the_first_is_right():
    gold = Doc(Vocab(), words=["AB"], spaces=[False], ents=["B-X"])
    doc = Doc(gold.vocab, words=["A", "B"], spaces=[False] * 2, ents=["B-X", "B-X"])
    doc.spans["found"] = SpanGroup(doc, spans=doc.ents, attrs={"scores": [0.9, 0.3]})
    example, collector = Example(doc, gold), ScoreCollector()
    collector.add(example, match_entities(example, ())["ents"])
    assert collector.summarize()["error"] == pytest.approx((0.1 + 0.3) / 2)


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
