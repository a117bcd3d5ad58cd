"""Scores and evaluations of text classifiers, beside scikit-learn's and spaCy's."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    precision_recall_fscore_support,
)
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation import categories
from spacy_hashembeds.evaluation.categories import CategoryRun, judge, name_accuracy
from spacy_hashembeds.evaluation.evaluate import evaluate, evaluate_in_depth
from spacy_hashembeds.evaluation.tasks import Classes, find_classes, find_task

from .. import toy_ner
from ..toy_textcat import (
    LABELS,
    TEST,
    TRAIN,
    make_classifier,
    make_doc,
    make_docs,
    train_textcat,
    write,
)
from .test_page import Page

NAMES = ("a", "b", "c", "d")


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
        scores = {label: float(rng.random() / 2) for label in NAMES}
        scores[theirs] += 0.5
        truth = {label: float(label == ours) for label in NAMES}
        examples.append(make_example(scores, truth))
    return examples, gold, predicted


def draw_multilabel(seed: int, n: int = 200) -> tuple[list[Example], Any, Any]:
    rng = np.random.default_rng(seed)
    gold = rng.random((n, 4)) < [0.5, 0.3, 0.1, 0.0]
    scores = np.clip(gold * 0.4 + rng.random((n, 4)) * 0.6, 0, 1)
    examples = [
        make_example(
            dict(zip(NAMES, row.tolist(), strict=True)),
            dict(zip(NAMES, map(float, truth), strict=True)),
        )
        for row, truth in zip(scores, gold, strict=True)
    ]
    return examples, gold, scores


def score_categories(examples: list[Example], classes: Classes) -> dict[str, Any]:
    run = CategoryRun(examples, classes)
    return run.score(run.list_labels())


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
    scores = score_categories(examples, Classes(labels=NAMES, exclusive=True))
    assert 0.5 < scores["cats_acc"] < 1
    check_as_sklearn(scores, gold, predicted, NAMES)
    settings = {"labels": NAMES, "multi_label": False}
    check_as_spacy(scores, Scorer.score_cats(examples, "cats", **settings))
    assert (scores["cats_support"], scores["cats_exclusive"]) == (200, True)
    assert scores["cats_micro_f"] == pytest.approx(scores["cats_acc"], abs=1e-12)
    assert name_accuracy(scores) == "accuracy"


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_scores_of_several_labels_are_those_of_sklearn_and_spacy(threshold):
    examples, gold, predicted = draw_multilabel(0)
    classes = Classes(labels=NAMES, exclusive=False, threshold=threshold)
    scores = score_categories(examples, classes)
    check_as_sklearn(scores, gold, predicted >= threshold, range(4))
    settings = {"labels": NAMES, "multi_label": True, "threshold": threshold}
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
    classes = Classes(labels=NAMES, exclusive=exclusive)
    judgement = judge(make_example(predicted, gold), classes)
    if expected is None:
        assert judgement is None
    else:
        assert judgement == tuple(map(frozenset, expected))


def test_several_gold_labels_are_none_that_exclude_each_other():
    example = make_example({"a": 1.0}, {"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match=r"a gold document has.* 'textcat_multilabel'"):
        judge(example, Classes(labels=NAMES, exclusive=True))


def test_nothing_known_scores_none():
    examples = [make_example({"a": 1.0}, {})]
    scores = score_categories(examples, Classes(labels=NAMES, exclusive=True))
    assert scores.pop("cats_support") == 0
    assert scores.pop("cats_exclusive") is True
    assert set(scores.values()) == {None}


def test_the_task_is_that_of_the_components():
    nlp = spacy.blank("en")
    assert find_task(nlp) == "ner"
    nlp.add_pipe("entity_ruler")
    assert find_task(nlp) == "ner"
    with pytest.raises(ValueError, match=r"one text classifier.*only 'entity_ruler'"):
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


# Evaluations.


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Corpora, and two pipelines, one of which was trained for less long."""
    folder = tmp_path_factory.mktemp("texts")
    train = write(folder / "train.spacy", make_docs(TRAIN))
    write(folder / "test.spacy", make_docs(TEST))
    train_textcat(train).to_disk(folder / "model")
    train_textcat(train, steps=1).to_disk(folder / "other")
    train_textcat(train, exclusive=False).to_disk(folder / "multilabel")
    return folder


@pytest.fixture(scope="module")
def nlp(folder) -> Language:
    return spacy.load(folder / "model")


@pytest.fixture(scope="module")
def evaluation(folder) -> Any:
    paths = (folder / name for name in ("model", "test.spacy", "train.spacy"))
    return evaluate_in_depth(*paths, against=folder / "other", samples=200)


def choose_labels(nlp: Language, path: Path) -> tuple[list[str], list[str]]:
    golds = [example.reference for example in Corpus(path)(nlp)]
    predicted = [nlp(gold.copy()) for gold in golds]
    gold, chosen = (
        [max(doc.cats, key=doc.cats.__getitem__) for doc in docs]
        for docs in (golds, predicted)
    )
    return gold, chosen


def test_a_pipeline_scores_as_spacy_and_sklearn_say(evaluation, nlp, folder):
    gold, predicted = choose_labels(nlp, folder / "test.spacy")
    assert 0.3 < evaluation["cats_acc"] < 1
    assert evaluation["cats_support"] == len(TEST)
    check_as_spacy(evaluation, nlp.evaluate(list(Corpus(folder / "test.spacy")(nlp))))
    labels = evaluation["matrix"]["labels"]
    assert sorted(labels) == sorted(LABELS)
    check_as_sklearn(evaluation, gold, predicted, [*evaluation["cats_per_type"]])
    matrix = confusion_matrix(gold, predicted, labels=labels)
    assert evaluation["matrix"]["counts"] == matrix.tolist()
    assert evaluation["matrix"]["unpredicted"] == [0, 0, 0]
    n_wrong = sum(confusion["count"] for confusion in evaluation["confusions"])
    assert n_wrong == matrix.sum() - np.trace(matrix)


def test_errors_have_their_documents(evaluation, nlp, folder):
    gold, predicted = choose_labels(nlp, folder / "test.spacy")
    found = {
        (example["document"], confusion["gold"], confusion["predicted"])
        for confusion in evaluation["confusions"]
        for example in confusion["examples"]
    }
    assert found == {
        (number, *pair)
        for number, pair in enumerate(zip(gold, predicted, strict=True))
        if pair[0] != pair[1]
    }
    example = evaluation["confusions"][0]["examples"][0]
    assert example["text"].strip() == TEST[example["document"]][0]


def test_intervals_hold_the_scores(evaluation):
    keys = ["cats_acc", "cats_macro_f", "cats_micro_f", "cats_macro_p"]
    for key in keys:
        low, high = evaluation[f"{key}_interval"]
        assert 0 <= low <= evaluation[key] <= high <= 1
        assert low < high
    assert evaluation["cats_acc_interval"] == evaluation["cats_micro_f_interval"]
    for score in evaluation["cats_per_type"].values():
        assert score.keys() == {*"prf", "support", *(f"{k}_interval" for k in "prf")}


def test_a_second_pipeline_is_compared(evaluation, folder):
    paths = [folder / name for name in ("other", "test.spacy", "train.spacy")]
    others = evaluate_in_depth(*paths, samples=9)
    comparison = dict(evaluation["comparison"])
    assert comparison.pop("model") == str(folder / "other")
    keys = {f"cats_{a}_{k}" for a in ("macro", "micro") for k in "prf"}
    assert comparison.keys() == {"cats_acc", *keys}
    for key, row in comparison.items():
        assert row["other"] == others[key]
        assert row["difference"] == pytest.approx(evaluation[key] - others[key])
        assert 0 < row["p_value"] <= 1
    assert comparison["cats_acc"]["difference"] != 0


def test_several_labels(folder):
    test = folder / "test.spacy"
    evaluation = evaluate_in_depth(folder / "multilabel", test, samples=9)
    nlp = spacy.load(folder / "multilabel")
    check_as_spacy(evaluation, nlp.evaluate(list(Corpus(test)(nlp))))
    assert evaluation["matrix"] is None
    assert evaluation["setting"]["threshold"] == 0.5
    assert evaluation["setting"]["train"] is evaluation["setting"]["shared"] is None
    for confusion in evaluation["confusions"]:
        assert None in (confusion["gold"], confusion["predicted"])
    text = evaluation.to_markdown()
    assert "| Exact match |  |  | " in text
    assert "Labels are predicted from a score of 0.5 on" in text
    assert "Training corpus" not in text
    assert ">Exact match<" in evaluation.to_html()
    assert "Confusion matrix" not in evaluation.to_html()


def test_an_exclusive_and_another_classifier_are_compared(folder):
    ours, theirs = (spacy.load(folder / name) for name in ("multilabel", "model"))
    compared = evaluate(ours, make_docs(TEST), against=theirs, samples=9)["comparison"]
    other = evaluate(theirs, make_docs(TEST), samples=9)
    assert compared["cats_acc"]["other"] == other["cats_acc"]
    docs = [make_doc("rain", {"weather": 1.0}), make_doc("again", {"weather": 0.0})]
    with pytest.raises(ValueError, match="scored on the same documents, but one has"):
        evaluate(ours, docs, against=theirs, samples=9)


def test_predictions_score_as_their_pipeline(evaluation, folder, nlp):
    golds = make_docs(TEST)
    predicted = list(nlp.pipe(doc.copy() for doc in golds))
    write(folder / "predicted.spacy", predicted)
    paths = [folder / f"{name}.spacy" for name in ("predicted", "test", "train")]
    same = evaluate_in_depth(*paths, against=folder / "other", samples=200)
    for key in evaluation.keys() - {"setting", "warnings"}:
        assert same[key] == evaluation[key]
    assert same["setting"]["labels"] == sorted(LABELS)
    assert evaluate(predicted, golds, samples=9)["cats_acc"] == evaluation["cats_acc"]


def test_labels_of_another_pipeline_change_no_score():
    golds = [make_doc(str(i), {"A": i % 2, "B": 1 - i % 2}) for i in range(9)]
    ours = [make_doc(str(i), {"A": i % 3 / 2, "B": 0.6}) for i in range(9)]
    theirs = [make_doc(str(i), {"A": 0.5, "B": 0.4, "Z": 0.1}) for i in range(9)]
    alone, beside = (
        evaluate(ours, golds, against=against, samples=9) for against in (None, theirs)
    )
    compared = beside["comparison"]["cats_macro_f"]
    for key in alone.keys() - {"setting", "comparison", "warnings"}:
        assert beside[key] == alone[key]
    difference = alone["cats_macro_f"] - compared["other"]
    assert compared["difference"] == pytest.approx(difference)


def test_what_is_assumed_of_predictions_is_told(nlp):
    golds, docs = make_docs(TEST), make_docs(TEST)
    evaluation = evaluate(nlp, golds, against=docs, samples=9)
    assert evaluation["setting"]["assumed"] == [
        {"model": "predictions", "exclusive": True, "threshold": None}
    ]
    (warning,) = evaluation["warnings"]
    assert warning.startswith("'predictions' is without the pipeline that")
    assert "taken to exclude each other, as they do in all gold documents" in warning
    assert warning in evaluation.to_markdown()
    assert warning in Page(evaluation.to_html()).text
    golds.append(make_doc("x", dict.fromkeys(LABELS, 1.0)))
    docs.append(make_doc("x", dict.fromkeys(LABELS, 0.7)))
    evaluation = evaluate(docs, golds, samples=9)
    assert evaluation["setting"]["assumed"] == [
        {"model": "predictions", "exclusive": False, "threshold": 0.5}
    ]
    (warning,) = evaluation["warnings"]
    assert "a label counts from a score of 0.5 on, since not all gold" in warning
    for gold in golds:
        gold.cats = {}
    (warning,) = evaluate(docs, golds, task="textcat", samples=9)["warnings"]
    assert warning.startswith("None of the ")


def test_nothing_is_assumed_of_pipelines(evaluation):
    assert evaluation["setting"]["assumed"] == []
    assert not any("is without the pipeline" in text for text in evaluation["warnings"])


def test_predictions_of_several_labels_are_told_by_the_gold_corpus():
    golds = [make_doc("x", {"a": 1, "b": 1}), make_doc("y", {"a": 0, "b": 1})]
    predicted = [make_doc("x", {"a": 0.5, "b": 0.4}), make_doc("y", {"b": 0.9})]
    evaluation = evaluate(predicted, golds, samples=9)
    assert evaluation["cats_exclusive"] is False
    assert evaluation["cats_acc"] == 0.5
    counts = {(c["gold"], c["predicted"]): c["count"] for c in evaluation["confusions"]}
    assert counts == {("b", None): 1}


def test_a_document_without_prediction_is_missed():
    golds = [make_doc("x", {"a": 1.0}), make_doc("y", {"b": 1.0})]
    predicted = [make_doc("x", {"a": 1.0}), make_doc("y", {})]
    evaluation = evaluate(predicted, golds, samples=9)
    matrix = {"counts": [[1, 0], [0, 0]], "unpredicted": [0, 1]}
    assert evaluation["matrix"] == {"labels": ["a", "b"], **matrix}
    assert "| Gold | a | b | none |" in evaluation.to_markdown()
    assert "none" in Page(evaluation.to_html()).text


def test_documents_without_categories_are_not_scored(nlp):
    golds = [make_doc("rain again", "weather"), make_doc("unknown", {})]
    evaluation = evaluate(nlp, golds, samples=9)
    setting = evaluation["setting"]
    assert (setting["documents"], setting["documents_read"]) == (1, 2)
    assert "the 1 document with category annotation, of 2" in evaluation.to_markdown()


def test_a_corpus_without_categories_is_told(nlp):
    evaluation = evaluate(nlp, [make_doc("rain", {})], samples=9)
    warning = "None of the 1 document in 'examples' has category annotation."
    assert evaluation["warnings"] == [warning]
    assert evaluation["cats_acc"] is None
    assert warning in Page(evaluation._repr_html_()).text
    assert repr(evaluation) == "<Evaluation of en_pipeline: accuracy - on 0 documents>"


def test_labels_that_the_pipeline_does_not_know_are_told(nlp):
    golds = [make_doc("rain", {"Weather": 1.0}), make_doc("goal", "sports")]
    (warning,) = evaluate(nlp, golds, samples=9)["warnings"]
    assert "'examples' has labels that 'en_pipeline' does not know" in warning
    assert "missed: Weather. It knows money, sports, weather." in warning


def test_documents_that_stand_in_training_are_told(nlp):
    docs = make_docs(TRAIN)
    (warning,) = evaluate(nlp, docs, train=docs, samples=9)["warnings"]
    assert warning.startswith("9 of the 9 documents in 'examples' (100.0%) stand word")


def test_what_to_evaluate_must_be_clear(nlp, folder):
    both = spacy.load(folder / "model")
    both.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "rain"}])
    golds = make_docs(TEST)
    with pytest.raises(ValueError, match=r"sets both:.*with 'task' \(--task\): 'ner'"):
        evaluate(both, golds)
    settings = {"train": golds, "samples": 9}
    assert evaluate(both, golds, task="ner", **settings)["ents_support"] == 0
    scores = evaluate(both, golds, task="textcat", **settings)
    assert scores["cats_support"] == len(TEST)
    with pytest.raises(ValueError, match="'task' should be 'ner' or 'textcat', but is"):
        evaluate(nlp, golds, task="parser")
    with pytest.raises(ValueError, match="pipelines are of both entities and categ"):
        evaluate(nlp, golds, against=spacy.blank("en"))
    golds = [toy_ner.make_doc("Anna|PER sings"), Doc(nlp.vocab, words=[])]
    assert evaluate(golds, golds, train=golds, samples=9)["ents_f"] == 1
    golds[0].cats = {"a": 1.0}
    with pytest.raises(ValueError, match="gold corpus has both entities and categ"):
        evaluate(golds, golds)


def test_all_forms_have_the_scores(evaluation):
    accuracy = f"{100 * evaluation['cats_acc']:.2f}"
    markdown = evaluation.to_markdown()
    assert f"| Accuracy |  |  | {accuracy} | " in markdown
    for title in ("Against", "Categories by label", "Confusion matrix", "Confusions ("):
        assert f"## {title}" in markdown
    page = Page(evaluation.to_html())
    for text in (accuracy[:-1], "Accuracy is the share", "Against"):
        assert text in page.text


def test_markup_in_labels_and_texts_are_shown():
    label = "=<b>1&\x1b[31m"
    golds = [make_doc("<script> x", {label: 1.0}), make_doc("y", {"a": 1.0})]
    predicted = [make_doc("<script> x", {"a": 1.0}), make_doc("y", {"a": 1.0})]
    evaluation = evaluate(predicted, golds, samples=9)
    page = evaluation.to_html()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "\\x1b" in Page(page).text
    assert "\x1b" not in evaluation.to_markdown()


@pytest.mark.parametrize(("n", "end"), [(1000, "…"), (121, "…"), (120, "")])
def test_a_long_document_is_cut(n, end):
    golds = [make_doc("long " * n, {"a": 1.0, "b": 0.0})]
    predicted = [make_doc("long " * n, {"b": 1.0})]
    (confusion,) = evaluate(predicted, golds, samples=9)["confusions"]
    assert confusion["examples"][0]["text"] == ("long " * 120) + end


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (("Business", "Sci/Tech"), ("Business", "Sci/Tech")),
        (("a" * 30, "b" * 30), ("a" * 12 + "…", "b" * 12 + "…")),
    ],
)
def test_labels_above_a_matrix_are_cut_where_there_is_no_room(labels, shown):
    docs = [make_doc("x", {label: 1.0}) for label in labels]
    tables = evaluate(docs, docs, samples=9).make_tables()
    (matrix,) = (table for table in tables if table.title == "Confusion matrix")
    assert list(matrix.header) == ["Gold", *shown]
    assert [row[0] for row in matrix.rows] == list(labels)


@pytest.mark.parametrize("n", [10, 11])
def test_a_matrix_of_ten_labels_fits_a_terminal(n):
    docs = [make_doc("x", {f"l{i}": 1.0}) for i in range(n)]
    titles = [table.title for table in evaluate(docs, docs, samples=9).make_tables()]
    assert ("Confusion matrix" in titles) is (n == 10)


def make_scored(*scores: dict[str, float]) -> list[Doc]:
    return [make_doc(f"w{i}", cats) for i, cats in enumerate(scores)]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_refused(score):
    golds = make_scored({"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0})
    fine = make_scored({"a": 7.0, "b": -3.0}, {"a": 0.1, "b": 0.9})
    assert evaluate(fine, golds, samples=10)["cats_acc"] == 1
    broken = make_scored({"a": 0.2, "b": 0.8}, {"a": score, "b": 0.9})
    message = f"^The scores of 'predictions' should .* document 1, .* {score} for 'a'"
    for predictions in ({"nlp": broken}, {"nlp": fine, "against": broken}):
        with pytest.raises(ValueError, match=message):
            evaluate(examples=golds, samples=10, **predictions)


@pytest.mark.parametrize("value", [float("nan"), 7.0, -3.0])
def test_gold_numbers_are_shares(value):
    golds = make_scored({"a": 1.0, "b": 0.0}, {"a": value, "b": 1.0})
    fine = make_scored({"a": 0.9}, {"b": 0.9})
    with pytest.raises(ValueError, match=f"^The gold.* document 1, .* {value} for 'a'"):
        evaluate(fine, golds, task="textcat", samples=10)


def test_labels_that_no_document_has_cost_next_to_nothing():
    def score(n_labels: int, n_docs: int = 12) -> Any:
        none = {f"l{i}": 0.0 for i in range(n_labels)}
        golds = make_scored(*({**none, f"l{i % 4}": 1.0} for i in range(n_docs)))
        ours, theirs = (
            make_scored(*({**none, f"l{i % n}": 1.0} for i in range(n_docs)))
            for n in (3, 2)
        )
        return evaluate(ours, golds, against=theirs, samples=500)

    few = score(5)
    assert few["matrix"]["labels"] == ["l0", "l1", "l2", "l3"]
    start = time.process_time()
    many = score(5000)
    assert time.process_time() - start < 4
    for key in ("cats_acc_interval", "cats_micro_f_interval"):
        assert many[key] == few[key]
    # those that nobody has score 0 in every draw, too
    assert many["cats_macro_f"] == pytest.approx(few["cats_macro_f"] * 5 / 5000)
    assert many["cats_macro_f_interval"][1] < 4 / 5000
    rows = [each["comparison"]["cats_macro_f"] for each in (few, many)]
    assert rows[1]["difference"] == pytest.approx(rows[0]["difference"] * 5 / 5000)
    assert rows[1]["p_value"] == rows[0]["p_value"]


def test_there_is_no_matrix_of_more_labels_than_anybody_reads(monkeypatch):
    monkeypatch.setattr(categories, "MAX_MATRIX", 1)
    docs = make_scored({"a": 1.0, "b": 0.0}, *[{"a": 0.0, "b": 1.0}] * 2)
    evaluation = evaluate(docs, docs, samples=10)
    assert evaluation["matrix"] is None
    assert "Confusion matrix" not in evaluation.to_html()
    monkeypatch.setattr(categories, "MAX_MATRIX", 2)
    evaluation = evaluate(docs, docs, samples=10)
    assert evaluation["matrix"]["counts"] == [[1, 0], [0, 2]]
    # cells are the darker the larger, up to a half
    page = evaluation.to_html()
    assert [page.count(f"153, {x})") for x in ("0.25", "0.50")] == [1, 1]
