"""Attention weights of encoders, and as a component keeps them in Docs."""

import numpy as np
import pytest
import spacy
from spacy.language import Language

from lab.attention import weights as attention
from lab.attention.weights import find_attending
from tests.toy_encoders import make_tok2vec

pytestmark = pytest.mark.torch

TEXTS = ["Anna met Carl in Rome", "", "Rome"]


def make_pipeline(name="AttBiLSTMEncoder", *, is_shared=True) -> Language:
    """A shared tok2vec, or a tagger with one of its own."""
    nlp = spacy.blank("en")
    tok2vec = make_tok2vec(name, 40)
    if is_shared:
        nlp.add_pipe("tok2vec", config={"model": tok2vec})
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 40}
        tok2vec = {**listener, "upstream": "tok2vec"}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    tagger = nlp.add_pipe("tagger", config={"model": model})
    for label in "AB":
        tagger.add_label(label)
    nlp.initialize()
    return nlp


@pytest.mark.parametrize(("is_shared", "name"), [(True, "tok2vec"), (False, "tagger")])
def test_docs_have_the_weights_that_their_vectors_were_made_with(
    is_shared, name, monkeypatch
):
    nlp = make_pipeline(is_shared=is_shared)
    nlp.add_pipe("attention_weights")
    inputs = []
    find_weights = attention.find_weights

    def find(model, H):
        inputs.append((model, H))
        return find_weights(model, H)

    monkeypatch.setattr(attention, "find_weights", find)
    docs = list(nlp.pipe(TEXTS))
    for doc, (model, H) in zip(docs, inputs, strict=True):
        weights = doc._.attention_weights[name]
        assert list(doc._.attention_weights) == [name]
        assert weights.shape == (5, len(doc), len(doc))
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        # what the heads take by these weights is in the vectors
        values = (H @ model.get_param("value")).reshape(len(doc), 5, 4)
        found = np.einsum("hij,jhd->ihd", weights, values).reshape(len(doc), 20)
        (vectors,) = find_attending(nlp)[name].predict([doc])
        np.testing.assert_allclose(found, vectors[:, 20:], atol=1e-5)
