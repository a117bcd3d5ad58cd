from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_hashembeds.evaluation.in_depth import evaluate_in_depth

from .. import toy_ner


@pytest.fixture
def model(tmp_path: Path) -> Path:
    patterns = {"Anna": "PER", "Oslo": "LOC"}
    toy_ner.make_ruler(patterns, None).to_disk(tmp_path / "model")
    return tmp_path / "model"


def warn(model: Path, docs: list[Doc], train: str = "Anna|PER", **options) -> list[str]:
    folder = model.parent
    toy_ner.write(folder / "test.spacy", docs)
    toy_ner.write(folder / "train.spacy", [toy_ner.make_doc(train)])
    paths = (model, folder / "test.spacy", folder / "train.spacy")
    return evaluate_in_depth(*paths, samples=10, **options)["warnings"]


def test_what_can_be_scored_needs_no_warning(model):
    assert warn(model, [toy_ner.make_doc("Anna|PER in Rome|LOC")]) == []
    # nothing is right, but the types are known
    assert warn(model, [toy_ner.make_doc("Anna in Rome|PER")]) == []


def test_an_empty_gold_corpus(model):
    (text,) = warn(model, [])
    assert text == f"The gold corpus '{model.parent}/test.spacy' holds no documents."


def test_gold_without_annotation(model):
    plain = spacy.blank("en").make_doc("Anna in Rome")
    (text,) = warn(model, [plain] * 2)
    assert text.startswith("None of the 2 documents in ")
    assert text.endswith("test.spacy' has entity annotation.")


def test_gold_without_entities(model):
    (text,) = warn(model, [toy_ner.make_doc("Anna is here")])
    assert text.startswith("There is not one gold entity in the 1 document of '")


def test_no_predictions(model):
    (text,) = warn(model, [toy_ner.make_doc("Dora|PER")])
    assert f"'{model}' predicts not one entity" in text


def test_no_label_in_common(model):
    docs = [toy_ner.make_doc("Anna|person in Oslo|location", spaces=False)]
    (text,) = warn(model, docs)
    assert f"'{model}' predicts LOC, PER, and '" in text
    assert text.endswith("test.spacy' has location, person.")


def test_training_without_entities(model):
    (text,) = warn(model, [toy_ner.make_doc("Anna|PER")], train="nobody")
    assert "train.spacy' has no entities, so that all count as unseen" in text


def test_nothing_to_compare(model):
    docs = [toy_ner.make_doc("nobody")]
    _, text = warn(model, docs, against=model)
    assert text.startswith(f"There is no comparison with '{model}'")
    assert warn(model, [toy_ner.make_doc("Anna|PER")], against=model) == []
