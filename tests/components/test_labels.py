"""Labels of token_ner: read, given, added, refused."""

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import ConfigValidationError

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
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.labels == ("ORG", "PER", "LOC")


def test_labels_added_later_change_next_to_nothing():
    nlp = make_pipeline().from_bytes(train(make_pipeline()).to_bytes())
    before, found = get_probs(nlp), get_entities(annotate(nlp))
    assert nlp.get_pipe("token_ner").add_label("ORG") == 1
    assert get_entities(annotate(nlp)) == found
    probs = get_probs(nlp)
    assert 0 < probs[:, 9:].max() < 0.01
    np.testing.assert_allclose(probs[:, :9], before, atol=0.01)


def test_labels_of_new_data_are_learned_as_by_ner():
    nlp = train(make_pipeline())
    examples = make_examples(nlp, NEW)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.02
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert nlp.get_pipe("token_ner").labels == ("LOC", "PER", "ORG")
    golds = get_entities(eg.reference for eg in examples)
    assert get_entities(annotate(nlp, NEW)) == golds
    again = make_pipeline().from_bytes(nlp.to_bytes())
    assert get_entities(annotate(again, NEW)) == golds


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


def test_labels_are_read_from_a_file(tmp_path):
    """As `spacy init labels` writes it, by `spacy.read_labels.v1`."""
    nlp, path = make_pipeline(), tmp_path / "token_ner.json"
    path.write_text('["LOC", "PER", "TOOL"]')
    read = {"@readers": "spacy.read_labels.v1", "path": str(path), "require": True}
    nlp.config["initialize"]["components"] = {"token_ner": {"labels": read}}
    nlp.initialize(lambda: make_examples(nlp, ["Anna", "Ben"]))
    assert nlp.get_pipe("token_ner").labels == ("LOC", "PER", "TOOL")
    path.write_text('{"PER": 1}')
    with pytest.raises((ValueError, ConfigValidationError), match="labels"):
        nlp.initialize(lambda: make_examples(nlp))
