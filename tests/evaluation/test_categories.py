"""Scores of categories, beside scikit-learn's and spaCy's."""

from typing import Any

import numpy as np
import pytest
import spacy
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.categories import (
    Judgement,
    judge,
    name_accuracy,
    score_categories,
)
from spacy_hashembeds.evaluation.evaluate import evaluate_pipeline
from spacy_hashembeds.evaluation.tasks import Classes, find_classes, find_task

from ..toy_textcat import TEST, TRAIN, make_classifier, make_docs, train_textcat, write

LABELS = ("a", "b", "c", "d")


def make_example(predicted: dict[str, float], gold: dict[str, float]) -> Example:
    docs = [Doc(Vocab(), words=["x"]) for _ in range(2)]
    docs[0].cats, docs[1].cats = predicted, gold
    return Example(*docs)


def draw_exclusive(seed: int, n: int = 200) -> tuple[list[Example], Any, Any]:
    """Draw gold and predicted labels. No document has label d, and none is said to."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1])
    predicted = np.where(rng.random(n) < 0.6, gold, rng.choice(list("abc"), n))
    examples = []
    for ours, theirs in zip(gold, predicted, strict=True):
        scores = {label: float(rng.random() / 2) for label in LABELS}
        scores[theirs] += 0.5
        examples.append(
            make_example(scores, {label: float(label == ours) for label in LABELS})
        )
    return examples, gold, predicted


def draw_multilabel(seed: int, n: int = 200) -> tuple[list[Example], Any, Any]:
    rng = np.random.default_rng(seed)
    gold = rng.random((n, 4)) < [0.5, 0.3, 0.1, 0.0]
    scores = np.clip(gold * 0.4 + rng.random((n, 4)) * 0.6, 0, 1)
    examples = [
        make_example(
            dict(zip(LABELS, row.tolist(), strict=True)),
            dict(zip(LABELS, map(float, truth), strict=True)),
        )
        for row, truth in zip(scores, gold, strict=True)
    ]
    return examples, gold, scores


def check_as_sklearn(scores: dict[str, Any], gold: Any, predicted: Any, labels: Any):
    def score(average: str | None) -> Any:
        return precision_recall_fscore_support(
            gold, predicted, labels=labels, average=average, zero_division=0
        )

    assert scores["cats_acc"] == pytest.approx(
        accuracy_score(gold, predicted), abs=1e-12
    )
    for average in ("macro", "micro"):
        expected = dict(zip("prf", score(average), strict=False))
        for key, value in expected.items():
            assert scores[f"cats_{average}_{key}"] == pytest.approx(value, abs=1e-12)
    for key, column in zip(("p", "r", "f", "support"), score(None), strict=True):
        found = [score[key] for score in scores["cats_per_type"].values()]
        assert found == pytest.approx(column.tolist(), abs=1e-12)


def check_as_spacy(scores: dict[str, Any], expected: dict[str, Any]):
    for average in ("macro", "micro"):
        for key in (f"cats_{average}_{letter}" for letter in "prf"):
            assert scores[key] == pytest.approx(expected[key], abs=1e-12)
    for label, theirs in expected["cats_f_per_type"].items():
        ours = scores["cats_per_type"][label]
        assert {key: ours[key] for key in "prf"} == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_exclusive_scores_are_those_of_sklearn_and_spacy(seed):
    examples, gold, predicted = draw_exclusive(seed)
    scores = score_categories(examples, Classes(labels=LABELS, exclusive=True))
    assert 0.5 < scores["cats_acc"] < 1
    check_as_sklearn(scores, gold, predicted, LABELS)
    settings = {"labels": LABELS, "multi_label": False}
    check_as_spacy(scores, Scorer.score_cats(examples, "cats", **settings))
    assert (scores["cats_support"], scores["cats_exclusive"]) == (200, True)
    assert scores["cats_micro_f"] == pytest.approx(scores["cats_acc"], abs=1e-12)
    assert name_accuracy(scores) == "accuracy"


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_scores_of_several_labels_are_those_of_sklearn_and_spacy(threshold):
    examples, gold, predicted = draw_multilabel(0)
    classes = Classes(labels=LABELS, exclusive=False, threshold=threshold)
    scores = score_categories(examples, classes)
    check_as_sklearn(scores, gold, predicted >= threshold, range(4))
    settings = {"labels": LABELS, "multi_label": True, "threshold": threshold}
    check_as_spacy(scores, Scorer.score_cats(examples, "cats", **settings))
    assert name_accuracy(scores) == "exact match"


def test_a_label_that_only_gold_docs_have_is_missed():
    """Unlike in spaCy, which takes the first of the pipeline's labels for gold."""
    golds, predicted = ["b", "new", "b"], ["b", "b", "b"]
    examples = [
        make_example({"a": 0.1, "b": 0.9}, {gold: 1.0, "a": 0.0}) for gold in golds
    ]
    scores = score_categories(examples, Classes(labels=("a", "b"), exclusive=True))
    check_as_sklearn(scores, golds, predicted, ["a", "b", "new"])
    assert list(scores["cats_per_type"]) == ["a", "b", "new"]
    assert scores["cats_per_type"]["new"] == {"p": 0, "r": 0, "f": 0, "support": 1}


@pytest.mark.parametrize(
    ("exclusive", "predicted", "gold", "expected"),
    [
        (True, {"a": 0.2, "b": 0.3}, {"a": 1.0}, ("a", "b")),
        (True, {"a": 0.3, "b": 0.3}, {"b": 1.0}, ("b", "a")),  # the first, as in spaCy
        (True, {}, {"b": 1.0}, ("b", "")),
        (True, {"a": 1.0}, {}, None),
        (True, {"a": 1.0}, {"a": 0.0, "b": 0.0}, None),
        (True, {"z": 0.9, "b": 0.3}, {"b": 1.0}, ("b", "b")),  # of another component
        (False, {"a": 0.5, "b": 0.49}, {"a": 0.0, "b": 1.0}, ("b", "a")),
        (False, {"a": 0.9, "b": 0.9}, {"b": 1.0}, ("b", "b")),  # a is unknown
        (False, {"a": 0.1, "b": 0.1}, {"a": 0.0, "b": 0.0}, ("", "")),
        (False, {"a": 0.9, "b": 0.9}, {"a": 0.1, "b": 0.0}, ("a", "ab")),  # as spaCy
        (True, {"a": 0.9, "b": 0.3}, {"a": 0.1, "b": 0.0}, ("a", "a")),
        (False, {"a": 0.9}, {}, None),
        (False, {}, {"a": 1.0, "b": 1.0}, ("ab", "")),
    ],
)
def test_what_is_gold_and_predicted(exclusive, predicted, gold, expected):
    classes = Classes(labels=LABELS, exclusive=exclusive)
    judgement = judge(make_example(predicted, gold), classes)
    if expected is None:
        assert judgement is None
    else:
        assert judgement == Judgement(*map(frozenset, expected))


def test_several_gold_labels_are_none_that_exclude_each_other():
    example = make_example({"a": 1.0}, {"a": 1.0, "b": 1.0})
    message = r"a gold document has 2 of them: a, b\. Train .* 'textcat_multilabel'"
    with pytest.raises(ValueError, match=message):
        judge(example, Classes(labels=LABELS, exclusive=True))


def test_nothing_known_scores_none():
    examples = [make_example({"a": 1.0}, {})]
    scores = score_categories(examples, Classes(labels=LABELS, exclusive=True))
    assert scores.pop("cats_support") == 0
    assert scores.pop("cats_exclusive") is True
    assert set(scores.values()) == {None}


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_pipeline_scores_as_spacy_says(exclusive, tmp_path):
    train = write(tmp_path / "train.spacy", make_docs(TRAIN))
    test = write(tmp_path / "test.spacy", make_docs(TEST))
    nlp = train_textcat(train, exclusive=exclusive)
    nlp.to_disk(tmp_path / "model")
    scores = evaluate_pipeline(tmp_path / "model", test, tmp_path / "unread.spacy")
    examples = list(spacy.training.Corpus(test)(nlp))
    check_as_spacy(scores, nlp.evaluate(examples))
    assert 0 < scores["cats_acc"] < 1
    assert scores["cats_support"] == len(TEST)


def test_the_task_is_that_of_the_components():
    nlp = spacy.blank("en")
    assert find_task(nlp) == "ner"
    nlp.add_pipe("entity_ruler")
    assert find_task(nlp) == "ner"
    message = "one text classifier to evaluate, .* has only 'entity_ruler'"
    with pytest.raises(ValueError, match=message):
        find_classes(nlp)
    nlp.add_pipe("textcat")
    with pytest.raises(ValueError, match="sets both: 'entity_ruler' and 'textcat'"):
        find_task(nlp)
    nlp.remove_pipe("entity_ruler")
    assert find_task(nlp) == "textcat"
    nlp.add_pipe("textcat_multilabel")
    with pytest.raises(ValueError, match="has 'textcat', 'textcat_multilabel'"):
        find_classes(nlp)


def test_classes_are_those_of_the_component():
    assert find_classes(make_classifier(["x", "y"])).exclusive
    classes = find_classes(make_classifier(["x", "y"], exclusive=False, threshold=0.25))
    assert classes == Classes(labels=("x", "y"), exclusive=False, threshold=0.25)
