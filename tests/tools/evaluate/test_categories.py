"""Scores and evaluations of text classifiers, beside scikit-learn's and spaCy's."""

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

from spacy_hashembeds.tools.evaluate.categories import CategoryRun, judge, name_accuracy
from spacy_hashembeds.tools.evaluate.evaluate import evaluate, evaluate_in_depth
from spacy_hashembeds.tools.evaluate.tasks import Classes, find_classes, find_task

from ... import toy_ner
from ...toy_textcat import (
    LABELS,
    TEST,
    TRAIN,
    make_classifier,
    make_doc,
    make_docs,
    train_textcat,
    write,
)

NAMES = ("a", "b", "c", "d")


def make_example(predicted: dict[str, float], gold: dict[str, float]) -> Example:
    docs = [Doc(Vocab(), words=["x"]) for _ in range(2)]
    docs[0].cats, docs[1].cats = predicted, gold
    return Example(*docs)


def score_categories(examples: list[Example], classes: Classes) -> dict[str, Any]:
    run = CategoryRun(examples, classes)
    return run.score(run.list_labels())


def check_as_sklearn(scores: dict[str, Any], gold: Any, predicted: Any, labels: Any):
    def score(average: str | None) -> Any:
        return precision_recall_fscore_support(
            gold, predicted, labels=labels, average=average, zero_division=0
        )

    accuracy = accuracy_score(gold, predicted)
    assert scores["cats_acc"] == pytest.approx(accuracy, abs=1e-12)
    for average in ("macro", "micro"):
        for key, value in zip("prf", score(average), strict=False):
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
    """No document has label d, and none is said to."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(list("abc"), 200, p=[0.6, 0.3, 0.1])
    predicted = np.where(rng.random(200) < 0.6, gold, rng.choice(list("abc"), 200))
    examples = []
    for ours, theirs in zip(gold, predicted, strict=True):
        found = {label: float(rng.random() / 2) for label in NAMES}
        found[theirs] += 0.5
        truth = {label: float(label == ours) for label in NAMES}
        examples.append(make_example(found, truth))
    scores = score_categories(examples, Classes(labels=NAMES, exclusive=True))
    assert 0.5 < scores["cats_acc"] < 1
    check_as_sklearn(scores, gold, predicted, NAMES)
    settings = {"labels": NAMES, "multi_label": False}
    check_as_spacy(scores, Scorer.score_cats(examples, "cats", **settings))
    assert (scores["cats_support"], scores["cats_exclusive"]) == (200, True)
    assert name_accuracy(scores) == "accuracy"


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_scores_of_several_labels_are_those_of_sklearn_and_spacy(threshold):
    rng = np.random.default_rng(0)
    gold = rng.random((200, 4)) < [0.5, 0.3, 0.1, 0.0]
    found = np.clip(gold * 0.4 + rng.random((200, 4)) * 0.6, 0, 1)
    examples = [
        make_example(*(dict(zip(NAMES, map(float, x), strict=True)) for x in row))
        for row in zip(found, gold, strict=True)
    ]
    classes = Classes(labels=NAMES, exclusive=False, threshold=threshold)
    scores = score_categories(examples, classes)
    check_as_sklearn(scores, gold, found >= threshold, range(4))
    settings = {"labels": NAMES, "multi_label": True, "threshold": threshold}
    check_as_spacy(scores, Scorer.score_cats(examples, "cats", **settings))
    assert name_accuracy(scores) == "exact match"


@pytest.mark.parametrize(
    ("exclusive", "predicted", "gold", "expected"),
    [
        (True, {"a": 0.2, "b": 0.3}, {"a": 1.0}, ("a", "b")),
        (True, {"a": 0.3, "b": 0.3}, {"b": 1.0}, ("b", "a")),  # the first, as in spaCy
        (True, {}, {"b": 1.0}, ("b", "")),
        (True, {"a": 1.0}, {}, None),
        (True, {"a": 1.0}, {"b": 0.0, "a": 0.0}, ("b", "a")),  # the first, as in spaCy
        (True, {"a": 1.0}, {"z": 0.0}, ("", "a")),
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
    assert judgement == (expected and tuple(map(frozenset, expected)))


def test_several_gold_labels_are_none_that_exclude_each_other():
    example = make_example({"a": 1.0}, {"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match=r"a gold document has.* 'textcat_multilabel'"):
        judge(example, Classes(labels=NAMES, exclusive=True))


def test_the_task_and_classes_are_those_of_the_components():
    nlp = spacy.blank("en")
    assert find_task(nlp) == "ner"
    nlp.add_pipe("entity_ruler")
    assert find_task(nlp) == "ner"
    with pytest.raises(ValueError, match=r"one text classifier.* 0.*entity_ruler"):
        find_classes(nlp)
    nlp.add_pipe("textcat")
    with pytest.raises(ValueError, match="sets both: entity_ruler, textcat"):
        find_task(nlp)
    nlp.remove_pipe("entity_ruler")
    assert find_task(nlp) == "textcat"
    nlp.add_pipe("textcat_multilabel")
    with pytest.raises(ValueError, match=r"has 2.*textcat, textcat_multilabel"):
        find_classes(nlp)
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


def test_a_pipeline_scores_as_spacy_and_sklearn_say(evaluation, nlp, folder):
    golds = [example.reference for example in Corpus(folder / "test.spacy")(nlp)]
    sides = (golds, [nlp(gold.copy()) for gold in golds])
    gold, predicted = (
        [max(doc.cats, key=doc.cats.__getitem__) for doc in docs] for docs in sides
    )
    assert 0.3 < evaluation["cats_acc"] < 1
    assert evaluation["cats_support"] == len(TEST)
    assert evaluation["setting"]["assumed"] == evaluation["warnings"] == []
    check_as_spacy(evaluation, nlp.evaluate(list(Corpus(folder / "test.spacy")(nlp))))
    check_as_sklearn(evaluation, gold, predicted, [*evaluation["cats_per_type"]])
    matrix = evaluation["matrix"]
    assert sorted(matrix["labels"]) == sorted(LABELS)
    expected = confusion_matrix(gold, predicted, labels=matrix["labels"])
    assert matrix["counts"] == expected.tolist()
    assert matrix["unpredicted"] == [0, 0, 0]
    found = {
        (example["document"], confusion["gold"], confusion["predicted"])
        for confusion in evaluation["confusions"]
        for example in confusion["examples"]
    }
    pairs = enumerate(zip(gold, predicted, strict=True))
    assert found == {(number, *pair) for number, pair in pairs if pair[0] != pair[1]}
    example = evaluation["confusions"][0]["examples"][0]
    assert example["text"].strip() == TEST[example["document"]][0]


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
    assert "| Exact match |  |  | " in evaluation.to_markdown()
    assert "Labels are predicted from a score of 0.5 on" in evaluation.to_html()


@pytest.mark.parametrize("name", ["model", "multilabel"])
def test_docs_of_none_of_the_labels_count_as_in_spacy(folder, name):
    """And those of which some labels are unknown; but not those without any."""
    nlp = spacy.load(folder / name)
    none = dict.fromkeys(LABELS, 0.0)
    cats = [none, none, none, {"weather": 0.0}, {"sports": 0.0}, {"money": 1.0}]
    texts = ["the bank", "rain", "a goal", "rain again", "the bank", "rain"]
    golds = make_docs([*TEST, *zip(texts, cats, strict=True)])
    expected = nlp.evaluate([Example(nlp.make_doc(gold.text), gold) for gold in golds])
    evaluation = evaluate(nlp, [*golds, make_doc("a goal", {})], samples=9)
    check_as_spacy(evaluation, expected)
    setting = evaluation["setting"]
    assert (setting["documents"], setting["documents_read"]) == (13, 14)
    without = evaluate(nlp, make_docs(TEST), samples=9)
    assert evaluation["cats_macro_p"] < without["cats_macro_p"]
    said = [text for text in evaluation["warnings"] if text.startswith("5 of the 13 ")]
    assert len(said) == len(evaluation["warnings"]) == (name == "model")
    assert without["warnings"] == []


def test_predictions_score_as_their_pipeline(evaluation, folder, nlp):
    golds = make_docs(TEST)
    predicted = list(nlp.pipe(doc.copy() for doc in golds))
    write(folder / "predicted.spacy", predicted)
    paths = [folder / f"{name}.spacy" for name in ("predicted", "test", "train")]
    same = evaluate_in_depth(*paths, against=folder / "other", samples=200)
    for key in evaluation.keys() - {"setting", "warnings"}:
        assert same[key] == evaluation[key]
    assert same["setting"]["labels"] == sorted(LABELS)


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
    assert "exclude each other" in warning
    golds.append(make_doc("x", dict.fromkeys(LABELS, 1.0)))
    docs.append(make_doc("x", dict.fromkeys(LABELS, 0.7)))
    evaluation = evaluate(docs, golds, samples=9)
    assert evaluation["setting"]["assumed"] == [
        {"model": "predictions", "exclusive": False, "threshold": 0.5}
    ]
    (warning,) = evaluation["warnings"]
    assert "from a score of 0.5 on" in warning


@pytest.mark.parametrize("others", ["a", "b"])
def test_gold_documents_that_all_have_the_same_categories_are_warned_of(others):
    golds = [make_doc("x", {"a": 1, "b": 0})]
    golds.append(make_doc("y", {label: float(label == others) for label in "ab"}))
    nlp = make_classifier("ab")
    nlp.initialize(lambda: [Example(nlp.make_doc("x"), golds[0])])
    warnings = evaluate(nlp, golds, samples=9)["warnings"]
    assert any("same categories" in text for text in warnings) is (others == "a")


def test_predictions_of_several_labels_are_told_by_the_gold_corpus():
    golds = make_scored({"a": 1, "b": 1}, {"a": 0, "b": 1}, {"a": 0, "b": 1})
    predicted = make_scored({"a": 0.5, "b": 0.4}, {"b": 0.9}, {"a": 0.6, "b": 0.9})
    evaluation = evaluate(predicted, golds, samples=9)
    assert evaluation["cats_exclusive"] is False
    assert evaluation["cats_acc"] == 1 / 3
    counts = {(c["gold"], c["predicted"]): c["count"] for c in evaluation["confusions"]}
    assert counts == {("b", None): 1, (None, "a"): 1}
    assert "Gold</span> a, b" in evaluation.to_html()
    # also where a doc has none of them
    golds[0].cats = {"a": 0, "b": 0}
    assert evaluate(predicted, golds, samples=9)["cats_exclusive"] is False


def test_corpora_that_do_not_fit_are_told(nlp):
    evaluation = evaluate(nlp, [make_doc("rain", {})], samples=9)
    (warning,) = evaluation["warnings"]
    assert warning == "No document in 'examples' has category annotation."
    assert evaluation["cats_acc"] is None
    assert warning in evaluation._repr_html_().replace("&#39;", "'")
    assert repr(evaluation) == "<Evaluation of en_pipeline: accuracy - on 0 documents>"
    golds = [make_doc("rain", {"Weather": 1.0}), make_doc("goal", "sports")]
    (warning,) = evaluate(nlp, golds, samples=9)["warnings"]
    assert "'examples' has labels that 'en_pipeline' does not know" in warning
    assert "missed: Weather. It knows money, sports, weather." in warning
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
    with pytest.raises(ValueError, match="'task' should be 'ner' or 'textcat'"):
        evaluate(nlp, golds, task="parser")
    with pytest.raises(ValueError, match="pipelines are of both entities and categ"):
        evaluate(nlp, golds, against=spacy.blank("en"))
    golds = [toy_ner.make_doc("Anna|PER sings"), Doc(nlp.vocab, words=[])]
    assert evaluate(golds, golds, train=golds, samples=9)["ents_f"] == 1
    golds[0].cats = {"a": 1.0}
    assert "ents_f" in evaluate(spacy.blank("en"), golds, samples=9)
    with pytest.raises(ValueError, match="gold corpus has both entities and categ"):
        evaluate(golds, golds)


@pytest.mark.parametrize(("n", "end"), [(121, "…"), (120, "")])
def test_a_long_document_is_cut(n, end):
    golds = [make_doc("long " * n, {"a": 1.0, "b": 0.0})]
    predicted = [make_doc("long " * n, {"b": 1.0})]
    (confusion,) = evaluate(predicted, golds, samples=9)["confusions"]
    assert confusion["examples"][0]["text"] == ("long " * 120) + end


def make_scored(*scores: dict[str, float]) -> list[Doc]:
    return [make_doc(f"w{i}", cats) for i, cats in enumerate(scores)]


@pytest.mark.parametrize(
    ("labels", "header"),
    [
        (("Business", "Sci/Tech"), ("Business", "Sci/Tech")),
        (("a" * 30, "b" * 30), ("a" * 12 + "…", "b" * 12 + "…")),
        ([f"l{i}" for i in range(11)], None),
    ],
)
def test_a_matrix_fits_a_terminal_or_is_left_to_the_page(labels, header):
    docs = [make_doc("x", {label: 1.0}) for label in labels]
    evaluation = evaluate(docs, docs, samples=9)
    shown = [t for t in evaluation.get_parts() if getattr(t, "title", "") == MATRIX]
    assert [tuple(table.header[1:]) for table in shown] == [header] * len(shown)
    assert bool(shown) is (header is not None)
    assert MATRIX in evaluation.to_html()
    assert labels[-1] in evaluation.to_html()


MATRIX = "Confusion matrix"


def test_documents_without_a_prediction_have_a_column():
    golds = make_scored({"a": 1.0}, {"b": 1.0})
    evaluation = evaluate(make_scored({}, {"a": 0.1, "b": 1.0}), golds, samples=9)
    tables = {getattr(part, "title", ""): part for part in evaluation.get_parts()}
    assert [*tables[MATRIX].header] == ["Gold", "a", "b", "none"]
    assert tables[MATRIX].rows == [("a", 0, 0, 1), ("b", 0, 1, 0)]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_refused(score):
    golds = make_scored({"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0})
    fine = make_scored({"a": 7.0, "b": -3.0}, {"a": 0.1, "b": 0.9})
    assert evaluate(fine, golds, samples=10)["cats_acc"] == 1
    broken = make_scored({"a": 0.2, "b": 0.8}, {"a": score, "b": 0.9})
    message = f"^The scores of 'predictions' should .* document 1.* {score} for 'a'"
    for predictions in ({"nlp": broken}, {"nlp": fine, "against": broken}):
        with pytest.raises(ValueError, match=message):
            evaluate(examples=golds, samples=10, **predictions)


@pytest.mark.parametrize("value", [float("nan"), 7.0, -3.0])
def test_gold_numbers_are_shares(value):
    golds = make_scored({"a": 1.0, "b": 0.0}, {"a": value, "b": 1.0})
    fine = make_scored({"a": 0.9}, {"b": 0.9})
    with pytest.raises(ValueError, match=f"^The gold.* document 1.* {value} for 'a'"):
        evaluate(fine, golds, task="textcat", samples=10)


def test_labels_that_no_document_has_change_no_interval():
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
    many = score(5000)
    for key in ("cats_acc_interval", "cats_micro_f_interval"):
        assert many[key] == few[key]
    # those that nobody has score 0 in every draw, too
    assert many["cats_macro_f"] == pytest.approx(few["cats_macro_f"] * 5 / 5000)
    assert many["cats_macro_f_interval"][1] < 4 / 5000
    rows = [each["comparison"]["cats_macro_f"] for each in (few, many)]
    assert rows[1]["difference"] == pytest.approx(rows[0]["difference"] * 5 / 5000)
    assert rows[1]["p_value"] == rows[0]["p_value"]
