"""Scores and evaluations of text classifiers, beside scikit-learn's and spaCy's."""

from functools import partial
from itertools import product
from pathlib import Path
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

from spacy_hashembeds.tools.evaluate.categories import judge
from spacy_hashembeds.tools.evaluate.evaluate import evaluate, evaluate_in_depth
from spacy_hashembeds.tools.evaluate.sources import Classes, find_classes, find_task

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


def make_scored(*scores: dict[str, float]) -> list[Doc]:
    return [make_doc(f"w{i}", cats) for i, cats in enumerate(scores)]


def check_as_spacy(scores: dict[str, Any], expected: dict[str, Any]):
    for average in ("macro", "micro"):
        for key in (f"cats_{average}_{letter}" for letter in "prf"):
            assert scores[key] == pytest.approx(expected[key], abs=1e-12)
    for label, theirs in expected["cats_f_per_type"].items():
        ours = scores["cats_per_type"][label]
        assert {key: ours[key] for key in "prf"} == pytest.approx(theirs, abs=1e-12)


def draw_docs(exclusive: bool) -> tuple[list[np.ndarray], list[list[Doc]]]:
    """Gold docs, of which none has label d, those of two pipelines; their tables."""
    rng = np.random.default_rng(0)
    gold = rng.random((200, 4)) < [0.5, 0.3, 0.1, 0.0]
    if exclusive:
        gold = np.eye(4, dtype=bool)[rng.choice(3, 200, p=[0.6, 0.3, 0.1])]
    found = [np.clip(gold * 0.4 + rng.random((200, 4)) * 0.6, 0, 1) for _ in range(2)]
    tables = [gold, *found]
    rows = [
        [dict(zip(NAMES, map(float, row), strict=True)) for row in t] for t in tables
    ]
    return tables, [make_scored(*cats) for cats in rows]


@pytest.mark.parametrize("exclusive", [True, False])
def test_scores_are_those_of_sklearn_and_spacy(exclusive):
    (gold, found, _), (golds, ours, _) = draw_docs(exclusive)
    scores = evaluate(ours, golds, samples=200)
    examples = [Example(*pair) for pair in zip(ours, golds, strict=True)]
    settings = {"labels": NAMES, "multi_label": not exclusive, "threshold": 0.5}
    check_as_spacy(scores, Scorer.score_cats(examples, "cats", **settings))
    assert (scores["cats_support"], scores["cats_exclusive"]) == (200, exclusive)
    predicted, labels = found >= 0.5, [*range(4)]
    if exclusive:
        gold, predicted = gold.argmax(axis=1), found.argmax(axis=1)
    accuracy = sklearn.metrics.accuracy_score(gold, predicted)
    assert scores["cats_acc"] == pytest.approx(accuracy, abs=1e-12)
    score = partial(
        sklearn.metrics.precision_recall_fscore_support, gold, predicted, labels=labels
    )
    for average in ("macro", "micro"):
        expected = score(average=average, zero_division=0)[:3]
        values = [scores[f"cats_{average}_{key}"] for key in "prf"]
        assert values == pytest.approx(expected, abs=1e-12)
        # a label that no document has scores 0 in every draw, too
        for key, value in zip("prf", values, strict=True):
            low, high = scores[f"cats_{average}_{key}_interval"]
            assert low <= value <= high
    for key, column in zip(
        ("p", "r", "f", "support"), score(zero_division=0), strict=True
    ):
        values = [of[key] for of in scores["cats_per_type"].values()]
        assert values == pytest.approx(column.tolist(), abs=1e-12)
    counts = {(c["gold"], c["predicted"]): c["count"] for c in scores["confusions"]}
    if exclusive:
        matrix = sklearn.metrics.confusion_matrix(gold, predicted, labels=labels)
        pairs = product(enumerate(NAMES), repeat=2)
        wrong = {(a, b): matrix[i, j] for (i, a), (j, b) in pairs if i != j}
        assert counts == {pair: n for pair, n in wrong.items() if n}
        assert scores["matrix"]["labels"] == [*NAMES]
        assert scores["matrix"]["counts"] == matrix.tolist()
    else:
        assert scores["matrix"] is None
        missed, spurious = gold & ~predicted, predicted & ~gold
        expected = {(name, None): missed[:, i].sum() for i, name in enumerate(NAMES)}
        for i, name in enumerate(NAMES):
            expected[None, name] = spurious[:, i].sum()
        assert counts == {kind: n for kind, n in expected.items() if n}


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_second_pipeline_is_compared_and_changes_no_score(exclusive):
    _, (golds, ours, theirs) = draw_docs(exclusive)
    theirs[0].cats["z"] = 0.1
    alone, others = (evaluate(docs, golds, samples=9) for docs in (ours, theirs))
    scores = evaluate(ours, golds, against=theirs, samples=9)
    comparison = dict(scores["comparison"])
    assert comparison.pop("model") == "predictions"
    assert len(comparison) == 7
    for key, row in comparison.items():
        label_is_shared = "macro" not in key  # theirs has one more
        if label_is_shared:
            assert row["other"] == pytest.approx(others[key], abs=1e-15)
        assert row["difference"] == pytest.approx(scores[key] - row["other"])
        assert 0 < row["p_value"] <= 1
    for key in alone.keys() - {"setting", "comparison", "warnings"}:
        assert scores[key] == alone[key]


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
        (True, {"a": 0.9, "b": 0.3}, {"a": 0.1, "b": 0.0}, ("a", "a")),
        (False, {"a": 0.5, "b": 0.49}, {"a": 0.0, "b": 1.0}, ("b", "a")),
        (False, {"a": 0.9, "b": 0.9}, {"b": 1.0}, ("b", "b")),  # a is unknown
        (False, {"a": 0.1, "b": 0.1}, {"a": 0.0, "b": 0.0}, ("", "")),
        (False, {}, {"a": 1.0, "b": 1.0}, ("ab", "")),
    ],
)
def test_what_is_gold_and_predicted(exclusive, predicted, gold, expected):
    def run(*cats: dict[str, float]) -> Any:
        docs = [Doc(Vocab(), words=["x"]) for _ in cats]
        for doc, each in zip(docs, cats, strict=True):
            doc.cats = each
        return judge(0, Example(*docs), Classes(NAMES, None if exclusive else 0.5))

    assert run(predicted, gold) == (expected and tuple(map(frozenset, expected)))
    if exclusive:
        with pytest.raises(ValueError, match="textcat_multilabel"):
            run({"a": 1.0}, {"a": 1.0, "b": 1.0})


def test_the_task_and_classes_are_those_of_the_components():
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
def folder(tmp_path_factory) -> Path:
    """Corpora, and pipelines."""
    folder = tmp_path_factory.mktemp("texts")
    train = write(folder / "train.spacy", make_docs(TRAIN))
    write(folder / "test.spacy", make_docs(TEST))
    train_textcat(train).to_disk(folder / "model")
    train_textcat(train, exclusive=False).to_disk(folder / "multilabel")
    return folder


@pytest.fixture(scope="module")
def nlp(folder) -> Language:
    return spacy.load(folder / "model")


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
    assert setting["train"] is setting["shared"] is None
    is_exclusive = name == "model"
    assert len(evaluation["warnings"]) == is_exclusive
    assert all(text.startswith("5 of the 13 ") for text in evaluation["warnings"])
    assert setting["threshold"] == (None if is_exclusive else 0.5)
    assert (evaluation["matrix"] is not None) is is_exclusive
    if not is_exclusive:
        for confusion in evaluation["confusions"]:
            assert None in (confusion["gold"], confusion["predicted"])
        assert "| Exact match |" in evaluation.to_markdown()
        assert "Labels are predicted from a score of 0.5 on" in evaluation.to_html()


def test_predictions_score_as_their_pipeline(folder, nlp):
    predicted = list(nlp.pipe(make_docs(TEST)))
    write(folder / "predicted.spacy", predicted)
    scores, same = (
        evaluate_in_depth(folder / name, folder / "test.spacy", samples=50)
        for name in ("model", "predicted.spacy")
    )
    assert 0.3 < scores["cats_acc"] < 1
    assert scores["setting"]["assumed"] == scores["warnings"] == []
    for key in scores.keys() - {"setting", "warnings"}:
        assert same[key] == scores[key]
    assert same["setting"]["labels"] == sorted(LABELS)
    example = scores["confusions"][0]["examples"][0]
    assert example["text"].strip() == TEST[example["document"]][0]


@pytest.mark.parametrize("none", [{"a": 1, "b": 1}, {"a": 0, "b": 0}])
def test_what_is_assumed_of_predictions_is_told(none):
    golds = make_scored({"a": 0, "b": 1}, {"a": 0, "b": 1})
    predicted = make_scored({"b": 0.9, "a": 0.5}, {"a": 0.4, "b": 0.9})
    evaluation = evaluate(predicted, golds, samples=9)
    assert evaluation["setting"]["assumed"] == [
        {"model": "predictions", "exclusive": True, "threshold": None}
    ]
    assert "exclude each other" in evaluation["warnings"][0]
    golds += make_scored(none)
    predicted += make_scored({"a": 0.4, "b": 0.9})
    evaluation = evaluate(predicted, golds, samples=9)
    assert evaluation["setting"]["assumed"] == [
        {"model": "predictions", "exclusive": False, "threshold": 0.5}
    ]
    assert "from a score of 0.5 on" in evaluation["warnings"][0]
    assert evaluation["cats_acc"] == 1 / 3
    counts = {(c["gold"], c["predicted"]): c["count"] for c in evaluation["confusions"]}
    assert counts == {
        (None, "a"): 1,
        **({("a", None): 1} if none["a"] else {(None, "b"): 1}),
    }


def test_corpora_that_do_not_fit_are_told(nlp):
    evaluation = evaluate(nlp, [make_doc("rain", {})], samples=9)
    (warning,) = evaluation["warnings"]
    assert "'examples' has category annotation" in warning
    assert evaluation["cats_acc"] is None
    assert warning in evaluation._repr_html_().replace("&#39;", "'")
    golds = [make_doc("rain", {"Weather": 1.0}), make_doc("goal", "sports")]
    (warning,) = evaluate(nlp, golds, samples=9)["warnings"]
    assert "missed: Weather. It knows money, sports, weather." in warning
    docs = make_docs(TRAIN)
    (warning,) = evaluate(nlp, docs, train=docs, samples=9)["warnings"]
    assert warning.startswith("9 of the 9 documents in 'examples' (100.0%) stand word")


def test_what_to_evaluate_must_be_clear(nlp, folder):
    both = spacy.load(folder / "model")
    both.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "rain"}])
    golds = make_docs(TEST)
    with pytest.raises(ValueError, match=r"entities and categories.*'task'"):
        evaluate(both, golds)
    settings = {"train": golds, "samples": 9}
    assert evaluate(both, golds, task="ner", **settings)["ents_support"] == 0
    scores = evaluate(both, golds, task="textcat", **settings)
    assert scores["cats_support"] == len(TEST)
    with pytest.raises(ValueError, match="'task' should be 'ner' or 'textcat'"):
        evaluate(nlp, golds, task="parser")
    with pytest.raises(ValueError, match="entities and categories"):
        evaluate(nlp, golds, against=spacy.blank("en"))
    golds = [toy_ner.make_doc("Anna|PER sings"), Doc(nlp.vocab, words=[])]
    assert evaluate(golds, golds, train=golds, samples=9)["ents_f"] == 1
    golds[0].cats = {"a": 1.0}
    assert "ents_f" in evaluate(spacy.blank("en"), golds, samples=9)
    with pytest.raises(ValueError, match="entities and categories"):
        evaluate(golds, golds)


def test_a_long_document_is_cut():
    for n, end in ((121, "…"), (120, "")):
        golds = [make_doc("long " * n, {"a": 1.0, "b": 0.0})]
        predicted = [make_doc("long " * n, {"b": 1.0})]
        (confusion,) = evaluate(predicted, golds, samples=9)["confusions"]
        assert confusion["examples"][0]["text"] == ("long " * 120) + end


def show_matrix(evaluation) -> list[Any]:
    shown = (part for part in evaluation.get_parts() if hasattr(part, "rows"))
    return [part for part in shown if part.title == "Confusion matrix"]


def test_a_matrix_is_shown_if_it_is_small():
    golds = make_scored({"a": 1.0}, {"long label": 1.0})
    predicted = make_scored({}, {"a": 0.1, "long label": 1.0})
    (table,) = show_matrix(evaluate(predicted, golds, samples=9))
    assert [*table.header] == ["Gold", "a", "long lab", "none"]
    assert table.rows == [("a", 0, 0, 1), ("long label", 0, 1, 0)]
    docs = make_scored(*({f"l{i}": 1.0} for i in range(21)))
    evaluation = evaluate(docs, docs, samples=9)
    assert (show_matrix(evaluation), len(evaluation["matrix"]["counts"])) == ([], 21)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 7.0, -3.0])
def test_gold_numbers_are_shares_and_scores_are_finite(value):
    golds = make_scored({"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0})
    fine = make_scored({"a": 7.0, "b": -3.0}, {"a": 0.1, "b": 0.9})
    assert evaluate(fine, golds, samples=10)["cats_acc"] == 1
    broken = make_scored({"a": 0.2, "b": 0.8}, {"a": value, "b": 1.0})
    others = [] if np.isfinite(value) else [(broken, golds), (fine, golds, broken)]
    for nlp, examples, *against in [(fine, broken), *others]:
        with pytest.raises(ValueError, match=f"document 1.* {value} for 'a'"):
            evaluate(nlp, examples, task="textcat", against=(against or [None])[0])
