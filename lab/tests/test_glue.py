"""GLUE's metrics beside figures worked out by hand, and numbers learned as numbers."""

import math

import pytest
import spacy
from scipy.stats import pearsonr
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from lab.glue import LABELS, METRICS, score_glue

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


def test_metrics_of_similarity():
    golds, found = [0.0, 0.2, 0.4, 1.0], [0.1, 0.3, 0.2, 0.9]
    scores = score_glue(make_similarities(golds, found), "stsb")
    spearman = 1 - 6 * 2 / (4 * 15)
    assert scores["glue_score"] == scores["glue_spearman"] == pytest.approx(spearman)
    assert scores["glue_pearson"] == pytest.approx(pearsonr(golds, found).statistic)


# Numbers.

#: The share of each text's words that are good.
TEXTS = {
    "bad bad bad bad": 0.0,
    "bad bad good bad": 0.25,
    "good bad bad good": 0.5,
    "good good bad good": 0.75,
    "good good good good": 1.0,
}


def make_regressor(*, exclusive_classes: bool = False) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy.TextCatBOW.v3",
        "exclusive_classes": exclusive_classes,
        "ngram_size": 1,
        "length": 1000,
        "no_output_layer": False,
    }
    nlp.add_pipe("text_regressor", config={"model": model})
    return nlp


def make_numbers(nlp: Language) -> list[Example]:
    return [
        Example.from_dict(nlp.make_doc(text), {"cats": {"goodness": value}})
        for text, value in TEXTS.items()
    ]


def test_numbers_between_are_learned():
    nlp = make_regressor()
    examples = make_numbers(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.05
    for _ in range(150):
        nlp.update(examples, sgd=optimizer)
    found = [doc.cats["goodness"] for doc in nlp.pipe(TEXTS)]
    assert found == pytest.approx(list(TEXTS.values()), abs=0.12)
