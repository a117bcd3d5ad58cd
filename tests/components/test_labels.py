"""Labels of token_ner: read, given, added, refused."""

import json

import numpy as np
import pytest
import spacy
from spacy.cli._util import app
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import ConfigValidationError
from typer.testing import CliRunner

from ..toy_ner import TRAIN, make_doc, write
from .toy_recognizers import (
    annotate,
    copy_words,
    get_entities,
    make_examples,
    make_pipeline,
    train,
)

NEW = [
    "Zotech|ORG hired Anna|PER",
    "Ben|PER left Zotech|ORG",
    "Zotech|ORG is in Rome|LOC",
]


def get_probs(nlp: Language) -> np.ndarray:
    docs = [eg.predicted for eg in make_examples(nlp)]
    return np.vstack(nlp.get_pipe("token_ner").model.predict(docs))


@pytest.mark.parametrize("labels", [None, ["PER", "LOC", "TOOL"]])
def test_labels_are_those_that_are_given_or_of_the_training_data(labels):
    nlp = make_pipeline()
    pipe = nlp.get_pipe("token_ner")
    assert pipe.labels == ()
    pipe.initialize(lambda: make_examples(nlp), labels=labels)
    assert pipe.labels == pipe.label_data == tuple(labels or ["LOC", "PER"])
    assert all(label in nlp.vocab.strings for label in pipe.labels)
    assert get_probs(nlp).shape[1] == 4 * len(pipe.labels) + 1


def test_labels_may_be_added_before():
    nlp = make_pipeline()
    pipe = nlp.get_pipe("token_ner")
    assert [pipe.add_label(label) for label in ("ORG", "PER", "ORG")] == [1, 1, 0]
    with pytest.raises(ValueError, match="'labels'"):
        pipe.add_label(" LOC")
    train(nlp)
    assert pipe.labels == ("ORG", "PER", "LOC")
    golds = get_entities(eg.reference for eg in make_examples(nlp))
    assert get_entities(annotate(nlp)) == golds


def test_labels_added_later_are_learned():
    nlp = make_pipeline().from_bytes(train(make_pipeline()).to_bytes())
    pipe = nlp.get_pipe("token_ner")
    before, found = get_probs(nlp), get_entities(annotate(nlp))
    assert pipe.add_label("ORG") == 1
    assert get_entities(annotate(nlp)) == found
    probs = get_probs(nlp)
    assert 0 < probs[:, 9:].max() < 0.01
    np.testing.assert_allclose(probs[:, :9], before, atol=0.01)
    examples = make_examples(nlp, NEW)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.02
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    golds = get_entities(eg.reference for eg in examples)
    assert get_entities(annotate(nlp, NEW)) == golds
    again = make_pipeline().from_bytes(nlp.to_bytes())
    assert get_entities(annotate(again, NEW)) == golds


def test_labels_of_new_data_are_learned_as_by_ner(tmp_path):
    """By `spacy train`, of a pipeline that is sourced."""
    train(make_pipeline()).to_disk(tmp_path / "old")
    golds = [make_doc(text) for text in (*TRAIN, *NEW)]
    corpus = str(write(tmp_path / "new.spacy", golds))
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    config = nlp.config.copy()
    config["components"]["ner"] = {"source": str(tmp_path / "old")}
    config["components"]["ner"]["component"] = "token_ner"
    config["training"] |= {"max_steps": 40, "eval_frequency": 40}
    config["training"]["optimizer"]["learn_rate"] = 0.02
    config.to_disk(tmp_path / "config.cfg")
    paths = {"paths.train": corpus, "paths.dev": corpus}
    spacy_train(tmp_path / "config.cfg", tmp_path, overrides=paths)
    nlp = spacy.load(tmp_path / "model-last")
    assert nlp.get_pipe("ner").labels == ("LOC", "PER", "ORG")
    assert get_entities(annotate(nlp, NEW)) == get_entities(golds[-len(NEW) :])


def test_data_without_entities_or_with_bad_ones_are_refused():
    nlp = make_pipeline()
    gold = Doc(nlp.vocab, words=["a", "b"], ents=["B-PER ", "O"])
    with pytest.raises(ValueError, match="'PER '"):
        nlp.initialize(lambda: [Example(copy_words(gold), gold)])
    examples = make_examples(nlp, ["nobody lives there"])
    with pytest.raises(ValueError, match="has no labels"):
        nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match="E143"):
        nlp("Anna")
    empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    pipe = nlp.get_pipe("token_ner")
    with pytest.raises(ValueError, match=r"E923.*'token_ner'"):
        pipe.initialize(lambda: [empty], labels=["PER"])


def test_a_tagger_of_spacy_will_do():
    nlp = train(make_pipeline(architecture="spacy.Tagger.v2"))
    golds = get_entities(eg.reference for eg in make_examples(nlp))
    assert get_entities(annotate(nlp)) == golds
    pipe = nlp.get_pipe("token_ner")
    assert pipe.add_label("PER") == 0
    with pytest.raises(ValueError, match="'ORG'"):
        pipe.add_label("ORG")
    assert pipe.labels == ("LOC", "PER")
    # nor has it to, where it was made for so many
    model = {**nlp.config["components"]["token_ner"]["model"], "nO": 9}
    pipe = nlp.add_pipe("token_ner", name="of_nine", config={"model": model})
    pipe.initialize(lambda: make_examples(nlp))
    assert pipe.labels == ("LOC", "PER")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"normalize": False}, "'model'.*normalize = true"),
        ({"nO": 13}, "'b' has 2 labels.* 9 .* 13"),
    ],
)
def test_other_models_are_refused(changes, match):
    nlp = make_pipeline(architecture="spacy.Tagger.v2")
    model = {**nlp.config["components"]["token_ner"]["model"], **changes}
    with pytest.raises(ValueError, match=match):
        nlp.add_pipe("token_ner", name="b", config={"model": model}).initialize(
            lambda: make_examples(nlp)
        )


@pytest.mark.slow
def test_labels_are_saved_by_spacy_and_read_again(tiny_corpus, tmp_path):
    """By `spacy init labels`, and as it says with `spacy.read_labels.v1`."""
    nlp = make_pipeline()
    config = nlp.config.copy()
    for split in ("train", "dev"):
        config["paths"][split] = str(tiny_corpus / f"{split}.spacy")
    config.to_disk(tmp_path / "config.cfg")
    command = ["init", "labels", str(tmp_path / "config.cfg"), str(tmp_path)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    path = tmp_path / "token_ner.json"
    labels = json.loads(path.read_text())
    assert labels == sorted(labels)
    read = {"@readers": "spacy.read_labels.v1", "path": str(path), "require": True}
    nlp.config["initialize"]["components"] = {"token_ner": {"labels": read}}
    nlp.initialize(lambda: make_examples(nlp, ["Anna", "Ben"]))
    assert list(nlp.get_pipe("token_ner").labels) == labels
    path.write_text('{"PER": 1}')
    with pytest.raises((ValueError, ConfigValidationError), match="labels"):
        nlp.initialize(lambda: make_examples(nlp))
