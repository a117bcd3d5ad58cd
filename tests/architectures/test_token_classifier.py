"""The classifier of tokens beside `spacy.Tagger.v2`."""

from functools import partial

import numpy as np
from spacy.ml.models.tagger import build_tagger_model
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.token_classifier import TokenClassifier

from ..toy_embedders import get_gradients

VOCAB = Vocab()
DOCS = [Doc(VOCAB, words=words.split()) for words in ("a b c", "d", "e f")]


def make_tok2vec() -> Model:
    """Vectors that are the same whenever there are as many tokens."""

    def forward(model, docs, is_train):
        state = np.random.default_rng(0)
        Y = [state.normal(size=(len(doc), 4)).astype("f") for doc in docs]
        return Y, lambda dY: dY

    return Model("tok2vec", forward, dims={"nO": 4})


def build(build_model, *, is_random: bool) -> Model:
    fix_random_seed(0)
    Y = [np.zeros((len(doc), 5), dtype="f") for doc in DOCS]
    model = build_model(make_tok2vec()).initialize(DOCS, Y)
    softmax, state = model.get_ref("output_layer"), np.random.default_rng(1)
    for name in softmax.param_names if is_random else ():
        shape = softmax.get_param(name).shape
        softmax.set_param(name, state.normal(size=shape).astype("f"))
    return model


def test_it_is_spacys_tagger():
    outputs = []
    for make in (TokenClassifier, partial(build_tagger_model, normalize=True)):
        model = build(make, is_random=True)
        Y, backprop = model.begin_update([Doc(VOCAB), *DOCS])
        dX = backprop([y - 0.5 for y in Y])
        outputs.append([*Y, *model.predict(DOCS), *dX, *get_gradients(model)])
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_below_learns_from_the_first_step_on():
    Y, backprop = build(TokenClassifier, is_random=False).begin_update(DOCS)
    assert all(gradient.any() for gradient in backprop([y - 0.2 for y in Y]))


def test_it_grows():
    model = build(TokenClassifier, is_random=True)
    before = np.vstack(model.predict(DOCS))
    assert model.attrs["resize_output"](model, 9) is model
    after = np.vstack(model.predict(DOCS))
    assert model.get_dim("nO") == after.shape[1] == 9
    assert 0 < after[:, 5:].min() < after[:, 5:].max() < 1e-3
    rest = after[:, :5] / after[:, :5].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rest, before, rtol=1e-5)
    again = TokenClassifier(make_tok2vec()).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(np.vstack(again.predict(DOCS)), after)
