"""Pipelines that read features are compared and timed on Docs with features."""

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.acceleration.in_memory import accelerate

from ..toy_features import make_doc, make_nlp


@Language.component("tests_delete_names")
def delete_names(doc: Doc) -> Doc:
    del doc.spans["names"]
    return doc


def test_features_come_from_docs_or_components(monkeypatch):
    monkeypatch.undo()  # time pipelines too
    nlp = make_nlp(monkeypatch)
    nlp.add_pipe("tests_delete_names")
    assert accelerate(nlp, [make_doc()] * 2, rounds=1).texts == 2
    warns = pytest.warns(UserWarning, match=r"_\.mark")  # not compared
    with warns, pytest.raises(ValueError, match=r"group 'names'.*--text file\.spacy"):
        accelerate(nlp, rounds=1)
    ruler = nlp.add_pipe("span_ruler", config={"spans_key": "names"}, first=True)
    ruler.add_patterns([{"label": "CITY", "pattern": "Rome"}])
    for disabled in ([], nlp.pipe_names):
        nlp.select_pipes(disable=disabled)
        with pytest.warns(UserWarning, match=r"_\.mark"):
            assert accelerate(nlp, ["Ann lives"], rounds=1).texts == 1
