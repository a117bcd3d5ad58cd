"""GLUE's metrics, beside figures worked out by hand and those of scikit-learn."""

import math
import pickle
import sys
import warnings

import pytest
import spacy
from scipy.stats import pearsonr
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from spacy_hashembeds.evaluation.glue import (
    LABELS,
    METRICS,
    make_glue_scorer,
    score_glue,
)

NLP = spacy.blank("en")
BINARY = sorted(task for task, labels in LABELS.items() if len(labels) == 2)


def make_example(gold: dict, predicted: dict) -> Example:
    example = Example(NLP.make_doc("a b"), NLP.make_doc("a b"))
    example.reference.cats, example.predicted.cats = gold, predicted
    return example


def make_examples(task: str, golds: list[int], found: list[int]) -> list[Example]:
    """Examples of classes, by their numbers."""
    labels = LABELS[task]
    return [
        make_example(
            {label: float(i == gold) for i, label in enumerate(labels)},
            # backwards: the order of labels in a pipeline may be another
            {labels[i]: 0.6 if i == n else 0.3 for i in reversed(range(len(labels)))},
        )
        for gold, n in zip(golds, found, strict=True)
    ]


def make_similarities(golds: list[float], found: list[float]) -> list[Example]:
    return [
        make_example({"similarity": gold}, {"similarity": n})
        for gold, n in zip(golds, found, strict=True)
    ]


# Figures.


@pytest.mark.parametrize("task", BINARY)
def test_metrics_of_two_classes(task):
    golds, found = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]
    golds, found = [*golds, 0, 0], [*found, 1, 1]
    # 3 true positives, 1 false negative, 3 false positives, 3 true negatives
    by_hand = {
        "accuracy": 6 / 10,
        "f1": 6 / (6 + 1 + 3),
        "matthews": (3 * 3 - 3 * 1) / math.sqrt(6 * 4 * 6 * 4),
    }
    scores = score_glue(make_examples(task, golds, found), task)
    names = METRICS[task]
    expected = {f"glue_{name}": by_hand[name] for name in names}
    assert scores == pytest.approx({**expected, "glue_score": by_hand[names[0]]})
    assert all(type(score) is float for score in scores.values())


def test_metrics_of_three_classes():
    golds, found = [0, 1, 2, 2, 1], [0, 1, 2, 1, 0]
    scores = score_glue(make_examples("mnli", golds, found), "mnli")
    assert scores == pytest.approx({"glue_score": 0.6, "glue_accuracy": 0.6})


def test_metrics_of_similarity():
    golds, found = [0.0, 0.2, 0.4, 1.0], [0.1, 0.3, 0.2, 0.9]
    scores = score_glue(make_similarities(golds, found), "stsb")
    spearman = 1 - 6 * 2 / (4 * 15)
    assert scores["glue_score"] == scores["glue_spearman"] == pytest.approx(spearman)
    assert scores["glue_pearson"] == pytest.approx(pearsonr(golds, found).statistic)
    assert scores.keys() == {"glue_score", "glue_spearman", "glue_pearson"}


def test_the_main_metric_is_that_of_the_paper():
    """Xue and Aletras (2022), §4.3."""
    main = {task: names[0] for task, names in METRICS.items()}
    others = {"cola": "matthews", "stsb": "spearman", "qqp": "f1"}
    assert main == {**dict.fromkeys(LABELS, "accuracy"), **others}


# Where little is known.


@pytest.mark.parametrize("task", sorted(LABELS))
def test_nothing_to_score_is_none(task):
    expected = dict.fromkeys(["glue_score", *(f"glue_{n}" for n in METRICS[task])])
    assert score_glue([], task) == expected
    assert score_glue(iter([make_example({}, {})]), task) == expected


@pytest.mark.parametrize(
    ("golds", "found"), [([0, 1, 1], [1, 1, 1]), ([0, 0], [0, 1]), ([0], [0])]
)
def test_what_is_constant_has_no_correlation_and_no_warning(golds, found):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score_glue(make_examples("cola", golds, found), "cola") == {
            "glue_score": 0.0,
            "glue_matthews": 0.0,
        }
        numbers = [[n / 2 for n in each] for each in (golds, found)]
        assert set(score_glue(make_similarities(*numbers), "stsb").values()) == {0.0}


def test_f1_without_any_positive_is_zero():
    scores = score_glue(make_examples("qqp", [0, 0], [0, 0]), "qqp")
    assert scores == {"glue_score": 0.0, "glue_f1": 0.0, "glue_accuracy": 1.0}


def test_docs_without_gold_and_labels_of_others_are_left_out():
    examples = [make_example({}, {}), *make_examples("rte", [0, 1], [0, 0])]
    for cats in (examples[1].reference.cats, examples[1].predicted.cats):
        cats["spam"] = 1.0  # of another component
    assert score_glue(examples, "rte")["glue_score"] == 0.5


# What is refused.


def test_labels_of_another_task_are_refused():
    examples = make_examples("rte", [0], [0])
    with pytest.raises(ValueError, match=r"gold docs of the.*'unacceptable', and has"):
        score_glue(examples, "cola")
    examples[0].predicted.cats = {"entailment": 1.0}
    with pytest.raises(ValueError, match=r"predicted docs .*lacks 'not_entailment'"):
        score_glue(examples, "rte")


@pytest.mark.parametrize("cats", [(0.0, 0.0), (1.0, 1.0)])
def test_a_gold_doc_has_one_class(cats):
    (example,) = make_examples("rte", [0], [0])
    example.reference.cats = dict(zip(LABELS["rte"], cats, strict=True))
    with pytest.raises(ValueError, match=r"should have one of the classes .*but has"):
        score_glue([example], "rte")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, "a", None])
def test_predictions_are_finite(value):
    with pytest.raises(ValueError, match=r"of predicted docs should be finite.*loss"):
        score_glue(make_similarities([0.5], [value]), "stsb")


def test_another_task_is_refused_when_the_scorer_is_made():
    with pytest.raises(ValueError, match=r"'task' should be 'cola' or .* is 'CoLA'"):
        make_glue_scorer(task="CoLA")


# In a pipeline.


@pytest.fixture
def nlp() -> Language:
    nlp = spacy.blank("en")
    scorer = {"@scorers": "spacy-hashembeds.glue_scorer.v1", "task": "sst2"}
    nlp.add_pipe("textcat", config={"scorer": scorer})
    cats = [{"negative": 1.0, "positive": 0.0}, {"negative": 0.0, "positive": 1.0}]
    doc = nlp.make_doc("a good film")
    examples = [Example.from_dict(doc, {"cats": each}) for each in cats]
    nlp.initialize(lambda: examples)
    return nlp


@pytest.fixture
def without_sklearn(monkeypatch):
    """As if neither it nor what comes with it were installed."""
    names = [name for name in sys.modules if name.startswith(("sklearn", "scipy"))]
    for name in {*names, "sklearn", "sklearn.metrics", "scipy", "scipy.stats"}:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_sklearn")
def test_only_scoring_needs_the_extra(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert set(loaded("a good film").cats) == {"negative", "positive"}
    message = r"need scikit-learn: pip install 'spacy-hashembeds\[glue\]'"
    with pytest.raises(ImportError, match=message):
        loaded.evaluate([Example(loaded.make_doc("a"), loaded.make_doc("a"))])


def test_it_is_registered_and_can_be_sent_to_other_processes():
    scorer = registry.scorers.get("spacy-hashembeds.glue_scorer.v1")(task="rte")
    examples = make_examples("rte", [0, 1], [0, 0])
    sent = pickle.loads(pickle.dumps(scorer))
    assert (
        sent(examples, labels=["a"]) == scorer(examples) == score_glue(examples, "rte")
    )
