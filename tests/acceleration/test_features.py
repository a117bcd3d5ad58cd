"""Pipelines that read features are compared and timed on Docs that have them."""

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.acceleration.changes import count_changes
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.acceleration.timing import measure_components, measure_speeds

from ..toy_features import make_doc, make_nlp, register


@pytest.fixture
def nlp(monkeypatch) -> Language:
    register(monkeypatch)
    return make_nlp()


@Language.component("tests_no_names")
def set_no_names(doc: Doc) -> Doc:
    doc.spans["names"] = []
    return doc


def test_pipelines_are_compared_and_timed_with_features(nlp):
    docs = [make_doc(), make_doc(is_marked=False)]
    done = accelerate(nlp, docs, show_progress=False)
    assert (done.texts, done.features_without_values) == (2, [])
    assert measure_components(done.nlp, docs)["tok2vec"] > 0
    assert measure_speeds({"after": lambda: done.nlp}, docs)["after"].median > 0


def test_texts_without_features_are_refused_or_told(nlp):
    for texts in (["Ann lives"], None):
        with pytest.raises(ValueError, match=r"spans 'names'.*--text file\.spacy"):
            accelerate(nlp, texts, show_progress=False)
    nlp.add_pipe("tests_no_names", first=True)
    done = accelerate(nlp, ["Ann lives"], show_progress=False)
    assert str(done).count("No text has a value of") == 2
    assert done.nlp.pipe_names == nlp.pipe_names


def test_spans_that_are_given_are_no_annotation_that_may_change(nlp):
    docs = [make_doc(nlp.vocab)]
    assert count_changes(nlp, docs, docs, docs).kinds["entities"].of == 2
    assert count_changes(nlp, ["a text"], docs, docs).kinds["entities"].of == 3
