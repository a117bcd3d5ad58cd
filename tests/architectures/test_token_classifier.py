"""The classifier of tokens beside `spacy.Tagger.v2`."""

from functools import partial

import numpy as np
from spacy.ml.models.tagger import build_tagger_model
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.token_classifier import TokenClassifier

VOCAB = Vocab()
DOCS = [Doc(VOCAB, words=words.split()) for words in ("a b c", "d", "e f")]
EMPTY = Doc(VOCAB)


def make_tok2vec(docs: list[Doc], width: int = 4) -> Model:
    """Vectors that are the same whenever there are as many tokens."""

    def forward(model, docs, is_train):
        state = np.random.default_rng(0)
        Y = [state.normal(size=(len(doc), width)).astype("f") for doc in docs]
        return Y, lambda dY: model.attrs["gradients"].append(dY)

    return Model("tok2vec", forward, dims={"nO": width}, attrs={"gradients": []})


def build(build_model, n_tags: int = 5) -> Model:
    fix_random_seed(0)
    model = build_model(make_tok2vec(DOCS))
    Y = [np.zeros((len(doc), n_tags), dtype="f") for doc in DOCS]
    return model.initialize(DOCS, Y)


def randomize(model: Model) -> Model:
    state = np.random.default_rng(1)
    softmax = model.get_ref("output_layer")
    for name in softmax.param_names:
        shape = softmax.get_param(name).shape
        softmax.set_param(name, state.normal(size=shape).astype("f"))
    return model


def test_it_is_spacys_tagger():
    outputs = []
    for make in (TokenClassifier, partial(build_tagger_model, normalize=True)):
        model = randomize(build(make))
        Y, backprop = model.begin_update([EMPTY, *DOCS])
        backprop([y - 0.5 for y in Y])
        gradients = model.get_ref("tok2vec").attrs["gradients"].pop()
        softmax = model.get_ref("output_layer")
        of_weights = [softmax.get_grad(name) for name in softmax.param_names]
        outputs.append([*Y, *model.predict(DOCS), *gradients, *of_weights])
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_below_learns_from_the_first_step_on():
    model = build(TokenClassifier)
    Y, backprop = model.begin_update(DOCS)
    backprop([y - 0.2 for y in Y])
    (gradients,) = model.get_ref("tok2vec").attrs["gradients"]
    assert all(gradient.any() for gradient in gradients)


def test_it_grows():
    model = randomize(build(TokenClassifier))
    before = np.vstack(model.predict(DOCS))
    assert model.attrs["resize_output"](model, 9) is model
    after = np.vstack(model.predict(DOCS))
    assert model.get_dim("nO") == after.shape[1] == 9
    assert 0 < after[:, 5:].min() < after[:, 5:].max() < 1e-3
    rest = after[:, :5] / after[:, :5].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rest, before, rtol=1e-5)
    saved = model.to_bytes()
    again = TokenClassifier(make_tok2vec(DOCS)).from_bytes(saved)
    np.testing.assert_array_equal(np.vstack(again.predict(DOCS)), after)
