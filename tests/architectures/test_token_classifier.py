"""`TokenClassifier.v1` against `spacy.Tagger.v2`."""

import numpy as np
from spacy.ml.models.tagger import build_tagger_model

from spacy_hashembeds.architectures.token_classifier import TokenClassifier

from ..contract import REGISTERED, initialize_tags, make_small_embedder
from ..toy_embedders import get_gradients, get_nodes, get_weights

CASE = REGISTERED["TokenClassifier"]


def test_equals_spacys_tagger(docs):
    ours = CASE.build()
    theirs = build_tagger_model(make_small_embedder(), normalize=True)
    initialize_tags(theirs, docs)
    weights = zip(get_weights(ours), get_weights(theirs), strict=True)
    for (node, name), (other, _) in weights:
        other.set_param(name, node.get_param(name))
    outputs = []
    for model in (ours, theirs):
        Y, backprop = model.begin_update(docs)
        backprop([y - 0.5 for y in Y])
        outputs.append([*Y, *model.predict(docs), *get_gradients(model)])
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_tok2vec_gets_a_gradient_in_the_first_step(docs):
    model = initialize_tags(CASE.make(), docs)
    Y, backprop = model.begin_update(docs)
    backprop([y - 0.2 for y in Y])
    (embed,) = get_nodes(model, "hashembed")
    assert embed.get_grad("E").any()


def test_resizing(docs):
    model = CASE.build()
    before = np.vstack(model.predict(docs))
    assert model.attrs["resize_output"](model, 9) is model
    after = np.vstack(model.predict(docs))
    assert model.get_dim("nO") == after.shape[1] == 9
    assert 0 < after[:, 5:].min() < after[:, 5:].max() < 1e-3
    rest = after[:, :5] / after[:, :5].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rest, before, rtol=1e-5)
    again = TokenClassifier(make_small_embedder()).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(np.vstack(again.predict(docs)), after)
