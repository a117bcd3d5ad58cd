"""Attention weights, as a component keeps them in Docs."""

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_hashembeds.components.attention_weights import find_attending, read_attention
from spacy_hashembeds.layers import selfattention

from ..toy_encoders import make_tok2vec

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
    find_weights = selfattention.find_weights

    def find(model, H):
        inputs.append((model, H))
        return find_weights(model, H)

    monkeypatch.setattr(selfattention, "find_weights", find)
    docs = list(nlp.pipe(TEXTS))
    for doc, (model, H) in zip(docs, inputs, strict=True):
        weights = doc._.attention_weights[name]
        assert list(doc._.attention_weights) == [name]
        assert weights.shape == (5, len(doc), len(doc))
        assert weights.dtype == "float32"
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        # what the heads take by these weights is in the vectors
        values = (H @ model.get_param("value")).reshape(len(doc), 5, 4)
        found = np.einsum("hij,jhd->ihd", weights, values).reshape(len(doc), 20)
        (vectors,) = find_attending(nlp)[name].predict([doc])
        np.testing.assert_allclose(found, vectors[:, 20:], atol=1e-5)


def test_nothing_is_kept_unasked(monkeypatch):
    monkeypatch.delattr(selfattention, "find_weights")
    make_pipeline().add_pipe("attention_weights")
    (doc,) = make_pipeline().pipe(TEXTS[:1])
    assert doc._.attention_weights is None


def test_a_pipeline_without_attention_is_named():
    nlp = make_pipeline("BiLSTMEncoder")
    nlp.add_pipe("attention_weights", name="looking")
    with pytest.raises(ValueError, match=r"'looking'.* none: tok2vec, tagger, look"):
        nlp("Rome")


def test_a_copied_encoder_is_found():
    """As `replace_listeners` makes it, without references."""
    nlp = make_pipeline()
    doc = nlp.make_doc("a b")
    (tok2vec,) = find_attending(nlp).values()
    (expected,) = read_attention(tok2vec, [doc])
    nlp.replace_listeners("tok2vec", "tagger", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    ((name, copied),) = find_attending(nlp).items()
    assert name == "tagger"
    (weights,) = read_attention(copied, [doc])
    np.testing.assert_array_equal(weights, expected)


def test_several_encoders_of_a_component_are_told_apart():
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {
            "@layers": "concatenate.v1",
            "*": {n: make_tok2vec("AttBiLSTMEncoder", 40) for n in ("a", "b")},
        },
    }
    nlp.add_pipe("tagger", config={"model": model}).add_label("A")
    nlp.initialize()
    assert list(find_attending(nlp)) == ["tagger", "tagger 2"]


def test_the_component_of_another_pipeline_is_refused():
    source = make_pipeline()
    source.add_pipe("attention_weights")
    nlp = make_pipeline()
    nlp.add_pipe("attention_weights", source=source)
    with pytest.raises(ValueError, match="knows the encoders of another pipeline"):
        nlp("a b")
