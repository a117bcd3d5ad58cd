"""Scores of text classifiers, compared with scikit-learn's and spaCy's."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
import spacy
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.categories import compare_labels
from spacy_hashembeds.tools.evaluate.evaluate import evaluate
from spacy_hashembeds.tools.evaluate.sources import Classes, find_classes, find_task

from ... import toy_ner
from ...toy_ner import write
from ...toy_textcat import (
    LABELS,
    TEST,
    TRAIN,
    make_classifier,
    make_doc,
    make_docs,
    train_textcat,
)
from .expected import check

NAMES = ("a", "b", "c", "d")


def make_scored(*scores: dict[str, float]) -> list[Doc]:
    return [make_doc(f"w{i}", cats) for i, cats in enumerate(scores)]


def check_as_spacy(scores: dict[str, Any], expected: dict[str, Any]):
    for average in ("macro", "micro"):
        for key in (f"cats_{average}_{letter}" for letter in "prf"):
            assert scores[key] == pytest.approx(expected[key], abs=1e-12)
    for label, theirs in expected["cats_f_per_type"].items():
        ours = scores["cats_per_type"][label]
        assert {key: ours[key] for key in "prf"} == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("exclusive", [True, False])
def test_scores_equal_sklearn_spacy_and_the_expected_file(exclusive):
    """No gold document has the last of four labels."""
    rng = np.random.default_rng(0)
    gold = rng.random((200, 4)) < [0.5, 0.3, 0.1, 0.0]
    if exclusive:
        gold = np.eye(4, dtype=bool)[rng.choice(3, 200, p=[0.6, 0.3, 0.1])]
    found, other = (
        np.clip(gold * 0.4 + rng.random((200, 4)) * 0.6, 0, 1) for _ in "12"
    )
    golds, ours, theirs = (
        make_scored(*(dict(zip(NAMES, row, strict=True)) for row in table.tolist()))
        for table in (gold * 1.0, found, other)
    )
    evaluation = evaluate(ours, golds, against=theirs, samples=1000)
    check(evaluation, "textcat.md" if exclusive else "textcat_multilabel.md")
    assert evaluation["cats_support"] == 200
    assert evaluation["cats_exclusive"] is exclusive
    examples = [Example(*pair) for pair in zip(ours, golds, strict=True)]
    settings = {"labels": NAMES, "multi_label": not exclusive, "threshold": 0.5}
    check_as_spacy(evaluation, Scorer.score_cats(examples, "cats", **settings))
    predicted = found >= 0.5
    if exclusive:
        gold, predicted = gold.argmax(axis=1), found.argmax(axis=1)
        matrix = sklearn.metrics.confusion_matrix(gold, predicted, labels=range(4))
        assert evaluation["matrix"]["counts"] == matrix.tolist()
    accuracy = sklearn.metrics.accuracy_score(gold, predicted)
    assert evaluation["cats_acc"] == pytest.approx(accuracy, abs=1e-12)
    settings = {"labels": range(4), "zero_division": 0}
    score = partial(
        sklearn.metrics.precision_recall_fscore_support, gold, predicted, **settings
    )
    for average in ("macro", "micro"):
        values = [evaluation[f"cats_{average}_{key}"] for key in "prf"]
        assert values == pytest.approx(score(average=average)[:3], abs=1e-12)
    for key, column in zip(("p", "r", "f", "support"), score(), strict=True):
        values = [of[key] for of in evaluation["cats_per_type"].values()]
        assert values == pytest.approx(column.tolist(), abs=1e-12)


@pytest.mark.parametrize(
    ("exclusive", "predicted", "gold", "expected"),
    [
        (True, {"a": 0.2, "b": 0.3}, {"a": 1.0}, ("a", "b")),
        (True, {"a": 0.3, "b": 0.3}, {"b": 1.0}, ("b", "a")),  # the first, as in spaCy
        (True, {}, {"b": 1.0}, ("b", "")),
        (True, {"a": 1.0}, {}, None),
        (True, {"a": 1.0}, {"b": 0.0, "a": 0.0}, ("b", "a")),  # the first, as in spaCy
        (True, {"a": 1.0}, {"z": 0.0}, ("", "a")),
        (True, {"z": 0.9, "b": 0.3}, {"b": 1.0}, ("b", "b")),  # z: another component
        (True, {"a": 0.9, "b": 0.3}, {"b": 0.0, "a": 0.1}, ("a", "a")),
        (False, {"a": 0.5, "b": 0.49}, {"a": 0.0, "b": 1.0}, ("b", "a")),
        (False, {"a": 0.9, "b": 0.9}, {"b": 1.0}, ("b", "b")),  # a: no gold entry
        (False, {"a": 0.1, "b": 0.1}, {"a": 0.0, "b": 0.0}, ("", "")),
        (False, {}, {"a": 1.0, "b": 1.0}, ("ab", "")),
    ],
)
def test_gold_and_predicted_labels(exclusive, predicted, gold, expected):
    def run(*cats: dict[str, float]) -> Any:
        docs = [Doc(Vocab(), words=["x"]) for _ in cats]
        for doc, each in zip(docs, cats, strict=True):
            doc.cats = each
        classes = Classes(NAMES, None if exclusive else 0.5)
        return compare_labels(0, Example(*docs), classes)

    assert run(predicted, gold) == (expected and tuple(map(frozenset, expected)))
    if exclusive:
        with pytest.raises(ValueError, match="textcat_multilabel"):
            run({"a": 1.0}, {"a": 1.0, "b": 1.0})


def test_components_determine_the_task_and_the_classes():
    nlp = spacy.blank("en")
    for name in ("sentencizer", "entity_ruler"):
        nlp.add_pipe(name)
        assert find_task(nlp) == "ner"
    with pytest.raises(ValueError, match="one text classifier, but has 0"):
        find_classes(nlp)
    assert find_classes(make_classifier(["x", "y"])) == Classes(("x", "y"), None)
    nlp = make_classifier(["x", "y"], exclusive=False, threshold=0.25)
    assert find_task(nlp) == "textcat"
    assert find_classes(nlp) == Classes(("x", "y"), 0.25)
    nlp.add_pipe("textcat")
    with pytest.raises(ValueError, match=r"has 2.*textcat_multilabel, textcat"):
        find_classes(nlp)


# Evaluations.


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory) -> dict[bool, Language]:
    """Return pipelines with exclusive labels, or without."""
    train = write(tmp_path_factory.mktemp("texts") / "train.spacy", make_docs(TRAIN))
    return {each: train_textcat(train, exclusive=each) for each in (True, False)}


@pytest.fixture
def nlp(pipelines) -> Language:
    return pipelines[True]


@pytest.mark.parametrize("exclusive", [True, False])
def test_docs_without_a_label_are_scored_as_in_spacy(pipelines, exclusive):
    """Docs with entries for some labels are scored; docs without `cats` are not."""
    nlp = pipelines[exclusive]
    none = dict.fromkeys(LABELS, 0.0)
    cats = [none, none, none, {"weather": 0.0}, {"sports": 0.0}, {"money": 1.0}]
    texts = ["the bank", "rain", "a goal", "rain again", "the bank", "rain"]
    golds = make_docs([*TEST, *zip(texts, cats, strict=True)])
    expected = nlp.evaluate([Example(nlp.make_doc(gold.text), gold) for gold in golds])
    evaluation = evaluate(nlp, [*golds, make_doc("a goal", {})], samples=9)
    check_as_spacy(evaluation, expected)
    setting = evaluation["setting"]
    assert (setting["documents"], setting["documents_read"]) == (13, 14)
    assert setting["train"] is setting["shared"] is None
    warned = ["5 of the 13 "] if exclusive else []
    assert [text[:12] for text in evaluation["warnings"]] == warned
    assert setting["threshold"] == (None if exclusive else 0.5)


@pytest.mark.parametrize("more", [None, {"a": 1, "b": 1}, {"a": 0, "b": 0}])
def test_predictions_are_exclusive_if_each_gold_document_has_one_label(more):
    golds = make_scored(*[{"a": 0, "b": 1}] * 2, *[more] * bool(more))
    predicted = make_scored({"b": 0.9, "a": 0.5}, *[{"a": 0.4, "b": 0.9}] * 2)
    evaluation = evaluate(predicted[: len(golds)], golds, samples=9)
    assert evaluation["setting"]["threshold"] == (0.5 if more else None)
    # a in the first document is wrong only if labels are not exclusive
    assert evaluation["cats_acc"] == (1 / 3 if more else 1)


def test_warns_about_corpora_without_known_labels(nlp):
    evaluation = evaluate(nlp, [make_doc("rain", {})], samples=9)
    (warning,) = evaluation["warnings"]
    assert "'examples' has category annotation" in warning
    assert evaluation["cats_acc"] is None
    assert warning in evaluation._repr_html_().replace("&#39;", "'")
    golds = [make_doc("rain", {"Weather": 1.0}), make_doc("goal", "sports")]
    (warning,) = evaluate(nlp, golds, samples=9)["warnings"]
    assert "Weather" in warning


def test_ambiguous_tasks_are_refused(nlp):
    both = spacy.blank("en")
    both.add_pipe("textcat", source=nlp)
    both.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "rain"}])
    golds, settings = make_docs(TEST), {"samples": 9}
    assert evaluate(both, golds, task="ner", **settings)["ents_support"] == 0
    scores = evaluate(both, golds, task="textcat", **settings)
    assert scores["cats_support"] == len(TEST)
    with pytest.raises(ValueError, match="'task' should be 'ner' or 'textcat'"):
        evaluate(nlp, golds, task="parser")
    ents = [toy_ner.make_doc("Anna|PER sings"), Doc(nlp.vocab, words=[])]
    assert evaluate(ents, ents, **settings)["ents_f"] == 1
    ents[0].cats = {"a": 1.0}
    assert "ents_f" in evaluate(spacy.blank("en"), ents, **settings)
    for predictions, corpus, other in (
        (both, golds, None),
        (nlp, golds, spacy.blank("en")),
        (ents, ents, None),
    ):
        with pytest.raises(ValueError, match=r"entities and categories.*'task'"):
            evaluate(predictions, corpus, against=other)
