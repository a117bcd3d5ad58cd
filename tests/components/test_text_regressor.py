"""`text_regressor`: numbers of texts, learned from numbers."""

import math

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_hashembeds.components.text_regressor import make_text_regressor
from spacy_hashembeds.evaluation.tasks import find_classes

#: The share of each text's words that are good.
TEXTS = {
    "bad bad bad bad": 0.0,
    "bad bad good bad": 0.25,
    "good bad bad good": 0.5,
    "good good bad good": 0.75,
    "good good good good": 1.0,
}
MODEL = {
    "@architectures": "spacy.TextCatBOW.v3",
    "exclusive_classes": False,
    "ngram_size": 1,
    "length": 1000,
    "no_output_layer": False,
}


def make_examples(nlp: Language) -> list[Example]:
    return [
        Example.from_dict(nlp.make_doc(text), {"cats": {"goodness": value}})
        for text, value in TEXTS.items()
    ]


def make_pipeline(factory: str = "text_regressor", **config) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, name="text_regressor", config={"model": MODEL, **config})
    return nlp


def train(nlp: Language, examples: list[Example], steps: int = 150) -> list[float]:
    """Train, and give the loss of each step."""
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.05
    return [nlp.update(examples, sgd=optimizer)["text_regressor"] for _ in range(steps)]


@pytest.fixture(scope="module")
def trained() -> Language:
    nlp = make_pipeline()
    losses = train(nlp, make_examples(nlp))
    assert losses[-1] < 0.05 * losses[0]
    return nlp


def predict(nlp: Language, texts=tuple(TEXTS)) -> list[float]:
    return [doc.cats["goodness"] for doc in nlp.pipe(texts)]


def test_it_learns_numbers_between(trained):
    assert predict(trained) == pytest.approx(list(TEXTS.values()), abs=0.12)


def test_spacys_own_component_refuses_them():
    """Why this one is there: without the refusal it would not be needed."""
    nlp = make_pipeline("textcat_multilabel")
    with pytest.raises(ValueError, match="E851"):
        nlp.initialize(lambda: make_examples(nlp))


def test_of_zeros_and_ones_it_learns_as_spacys_own():
    found = []
    for factory in ("text_regressor", "textcat_multilabel"):
        nlp = make_pipeline(factory)
        examples = [
            Example.from_dict(nlp.make_doc(text), {"cats": {"goodness": round(value)}})
            for text, value in TEXTS.items()
        ]
        found.append((train(nlp, examples, steps=5), predict(nlp)))
    assert found[0] == found[1]


def test_the_gradient_is_that_of_the_squared_error_of_labels_that_are_known():
    nlp = make_pipeline()
    examples = make_examples(nlp)
    cats = {"goodness": 0.5, "length": 0.25}
    examples.append(Example.from_dict(nlp.make_doc("good bad"), {"cats": cats}))
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("text_regressor")
    assert pipe.labels == ("goodness", "length")
    scores = pipe.model.ops.asarray2f([[0.5, 0.5]] * len(examples))
    loss, gradient = pipe.get_loss(examples, scores)
    expected = np.zeros((len(examples), 2))
    expected[:-1, 0] = 0.5 - np.array(list(TEXTS.values()))
    expected[-1, 1] = 0.25
    np.testing.assert_allclose(gradient, expected)
    assert loss == pytest.approx((expected**2).mean())


def test_texts_without_tokens(trained):
    assert trained("").cats == {"goodness": 0.0}
    found = predict(trained, ["", "good good good good", ""])
    assert found[1] == pytest.approx(1, abs=0.12)
    assert trained.get_pipe("text_regressor").predict([]).shape == (0, 1)
    nlp = make_pipeline()
    nlp.initialize(lambda: make_examples(nlp))
    empty = Example.from_dict(nlp.make_doc(""), {"cats": {"goodness": 0.5}})
    assert nlp.update([empty]) == {"text_regressor": 0.0}


@pytest.mark.parametrize("value", [-0.1, 1.1, 5.0, math.nan, math.inf, "a", None])
def test_other_numbers_are_refused(value):
    nlp = make_pipeline()
    examples = make_examples(nlp)
    examples[1].reference.cats["goodness"] = value
    message = r"'text_regressor' should learn from numbers from 0 to 1 .*'goodness'"
    with pytest.raises(ValueError, match=message):
        nlp.initialize(lambda: examples)
    nlp.initialize(lambda: make_examples(nlp))
    with pytest.raises(ValueError, match=message):
        nlp.update(examples)


def test_a_model_of_classes_that_exclude_each_other_is_refused():
    model = {**MODEL, "exclusive_classes": True}
    with pytest.raises(ValueError, match=r"'text_regressor' should have exclusive_cl"):
        make_pipeline(model=model)


def test_the_defaults_train_and_are_not_scored():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("text_regressor")
    assert nlp.get_pipe_meta("text_regressor").assigns == ["doc.cats"]
    assert pipe.scorer is None
    del pipe.model.attrs["multi_label"]  # which others' models may not have
    assert make_text_regressor(nlp, "other", pipe.model, None).name == "other"
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert 0 < nlp("good").cats["goodness"] < 1
    assert "cats_score" not in nlp.evaluate(examples)


def test_its_numbers_are_not_evaluated_as_labels(trained):
    with pytest.raises(ValueError, match=r"'text_regressor' is a .*spacy train`, and"):
        find_classes(trained)
