"""Pipelines that read features: saved, copied, and in several processes."""

import pickle

import pytest
import spacy
from spacy.tokens import Token

from .toy_features import make_doc, make_nlp


def check(nlp, **options) -> None:
    """Check that `nlp.pipe` predicts like `nlp`, from the features of each Doc."""
    golds = [make_doc(nlp.vocab, is_marked=x) for x in (True, False)]
    expected = [nlp(doc.copy()).tensor for doc in golds]
    assert abs(expected[0] - expected[1]).max() > 0.1
    pairs = nlp.pipe(zip(golds, (True, False), strict=True), as_tuples=True, **options)
    for (doc, is_marked), tensor in zip(pairs, expected, strict=True):
        assert doc.tensor == pytest.approx(tensor, abs=1e-6)
        assert doc[3]._.mark == len(doc.spans["names"]) == is_marked


def test_copies_predict_the_same_and_missing_extensions_raise(monkeypatch, tmp_path):
    nlp = make_nlp(monkeypatch)
    nlp.to_disk(tmp_path)
    for each in (nlp, spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        check(each)
    Token.remove_extension("mark")
    with pytest.raises(ValueError, match=r"'_\.mark'"):
        nlp(make_doc(nlp.vocab))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_receive_features(monkeypatch, start_method, method):
    start_method(method)
    check(make_nlp(monkeypatch), n_process=2)
