"""Pipelines that read features, as they are served."""

import pickle

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore

from .toy_features import make_doc, make_nlp, register


@pytest.fixture
def nlp(monkeypatch) -> Language:
    register(monkeypatch)
    return make_nlp()


def make_docs(nlp: Language) -> list[Doc]:
    return [make_doc(nlp.vocab, is_marked=i < 2) for i in range(3)]


def check(nlp: Language, docs) -> None:
    """Check that Docs are predicted as each alone is, by what it stores."""
    docs, expected = list(docs), list(map(nlp, make_docs(nlp)))
    assert abs(expected[0].tensor - expected[2].tensor).max() > 0.1
    for doc, other in zip(docs, expected, strict=True):
        np.testing.assert_allclose(doc.tensor, other.tensor, atol=1e-6)
        assert doc.to_array("TAG").tolist() == other.to_array("TAG").tolist()
    assert [doc[3]._.mark for doc in docs] == [True, True, False]
    assert [len(doc.spans["names"]) for doc in docs] == [1, 1, 0]


def test_docs_with_values_are_predicted_alike_in_every_way(nlp, tmp_path):
    pairs = nlp.pipe(zip(make_docs(nlp), "abc", strict=True), as_tuples=True)
    docs, contexts = zip(*pairs, strict=True)
    assert contexts == ("a", "b", "c")
    check(nlp, docs)
    nlp.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        check(nlp, other.pipe(make_docs(other)))
    other.replace_listeners("tok2vec", "tagger", ["model.tok2vec"])
    tags = [doc.to_array("TAG").tolist() for doc in docs]
    with other.select_pipes(enable="tagger"):
        found = [doc.to_array("TAG").tolist() for doc in other.pipe(make_docs(other))]
    assert found == tags
    assert tags[0] != tags[2]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_docs_with_values_are_predicted_by_processes(nlp, start_method, method):
    start_method(method)
    check(nlp, nlp.pipe(make_docs(nlp), n_process=2))


def test_an_extension_that_another_process_has_not_registered_is_named(
    nlp, monkeypatch
):
    data, docs = pickle.dumps(nlp), make_docs(nlp)
    monkeypatch.setattr(Underscore, "token_extensions", {})
    with pytest.raises(ValueError, match=r"'_\.mark'.*Token\.set_extension\('mark'"):
        pickle.loads(data)(docs[0])
