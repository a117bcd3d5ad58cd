"""The fast path against the reference, and folded tables that are never stale."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed, set_dropout_rate, with_nvtx_range

from spacy_hashembeds.architectures.embedders.mix_attributes import forward_reference
from spacy_hashembeds.layers import folding

from ...toy_embedders import (
    BUILDERS,
    CHANGES,
    assert_close,
    assert_gradients_close,
    build_hash,
    change_in_place,
    get_gradients,
    get_nodes,
    get_weights,
    make_docs,
    make_vocab,
)


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    return make_vocab()


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def model(request, vocab) -> Model:
    fix_random_seed(0)
    return request.param(vocab)


def predict_reference(model, docs):
    Y, _ = forward_reference(model, docs, False)
    return np.concatenate(Y)


def predict(model, docs):
    return np.concatenate(model.predict(docs))


def is_folded(model) -> bool:
    return model.attrs["fold"].folded is not None


LENGTHS = st.lists(st.one_of(st.integers(0, 90), st.just(300)), min_size=1, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lengths=LENGTHS, seed=st.integers(0, 99))
def test_predictions_equal_the_reference(model, vocab, lengths, seed):
    """Plain at first, then folded; for few tokens, and for many."""
    docs = make_docs(vocab, [*lengths, 1], seed)
    expected = predict_reference(model, docs)
    model.attrs["fold"].folded = model.attrs["fold"].seen = None
    assert_close(predict(model, docs), expected)
    assert not is_folded(model)
    assert_close(predict(model, docs), expected)
    assert is_folded(model)
    assert [len(Y) for Y in model.predict(docs)] == [len(doc) for doc in docs]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=25,
)
@given(lengths=LENGTHS, drop=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99))
def test_training_equals_the_reference(model, vocab, lengths, drop, seed):
    docs = make_docs(vocab, [*lengths, 1], seed)
    set_dropout_rate(model, drop)
    state = np.random.default_rng(seed)
    width = model.get_dim("nO")
    dY = [state.normal(size=(len(doc), width)).astype("f") for doc in docs]
    results = []
    for forward in (model._func, forward_reference):
        copied = model.copy()
        fix_random_seed(seed)
        Y, backprop = forward(copied, docs, True)
        backprop([d.copy() for d in dY])
        # once more, onto gradients that are there already
        Y, backprop = forward(copied, docs, True)
        assert backprop([d.copy() for d in dY]) == []
        results.append((np.concatenate(Y), get_gradients(copied)))
    (Y, grads), (expected_Y, expected_grads) = results
    assert_close(Y, expected_Y)
    assert_gradients_close(grads, expected_grads)


def test_many_tokens(vocab):
    model = build_hash(vocab)
    docs = make_docs(vocab, [20000])
    expected = predict_reference(model, docs)
    for _ in range(2):
        assert_close(predict(model, docs), expected)


def test_copies_of_a_token_have_dropout_of_their_own(vocab):
    model = set_dropout_rate(build_hash(vocab), 0.5)
    for node in model.walk():
        if node.name == "hashembed":
            node.attrs["dropout_rate"] = 0.0
    docs = [Doc(vocab, words=["a"] * 200)]
    Y, backprop = model.begin_update(docs)
    kept = Y[0] != 0
    assert 0.4 < kept.mean() < 0.6
    assert len(np.unique(kept, axis=0)) > 30
    backprop([np.ones_like(Y[0])])
    layernorm = next(node for node in model.walk() if node.name == "layernorm")
    np.testing.assert_allclose(layernorm.get_grad("b"), 2 * kept.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("n_tokens", [5, 400])
def test_folded_tables_are_never_stale(model, vocab, change, n_tokens):
    docs = make_docs(vocab, [n_tokens])
    before = [predict(model, docs) for _ in range(3)][-1]
    assert is_folded(model)
    change(model, docs)
    expected = predict_reference(model, docs)
    assert not np.allclose(expected, before, atol=1e-3), "the change changes nothing"
    for _ in range(3):
        assert_close(predict(model, docs), expected)
    assert is_folded(model), "folded again, as the weights came to rest"


def test_weights_held_from_before_can_be_changed(model, vocab):
    """Who holds a weight can change it without asking the model."""
    docs = make_docs(vocab, [400])
    held = [node.get_param(name) for node, name in get_weights(model)]
    views = [W[...] for W in held]
    for factor in (2.0, -1.0):
        predict(model, docs)
        predict(model, docs)
        assert not is_folded(model)
        for view in views:
            view *= factor
        assert_close(predict(model, docs), predict_reference(model, docs))
    # a weight taken out after folding, and changed later
    del held, views, view
    predict(model, docs)
    predict(model, docs)
    assert is_folded(model)
    late = get_nodes(model, "maxout")[0].get_param("W")
    predict(model, docs)
    late *= 3
    assert_close(predict(model, docs), predict_reference(model, docs))


def test_averages_come_and_go(model, vocab):
    docs = make_docs(vocab, [400])
    own = predict_reference(model, docs)
    averages = {
        (node.id, name): node.get_param(name) * -2 for node, name in get_weights(model)
    }
    for _ in range(2):
        for _ in range(3):
            assert_close(predict(model, docs), own)
        with model.use_params(averages):
            for _ in range(3):
                assert_close(predict(model, docs), predict_reference(model, docs))
            assert not np.allclose(predict(model, docs), own, atol=1e-3)
        for average in averages.values():
            average *= 1.5  # as an optimizer goes on averaging, in place


def test_copies_do_not_share_folded_tables(model, vocab):
    docs = make_docs(vocab, [400])
    expected = [predict(model, docs) for _ in range(3)][-1]
    size = len(model.to_bytes())
    [predict(model, docs) for _ in range(3)]
    assert is_folded(model)
    assert len(model.to_bytes()) == size, "folded tables are not saved"
    [predict(model, docs) for _ in range(3)]
    for copied in (
        model.copy(),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        assert not is_folded(copied)
        change_in_place(copied, docs)
        for _ in range(3):
            assert_close(predict(copied, docs), predict_reference(copied, docs))
            assert_close(predict(model, docs), expected)


def test_folded_tables_are_made_once(vocab, monkeypatch):
    model = build_hash(vocab)
    made = []
    fold = folding.fold
    monkeypatch.setattr(folding, "fold", lambda *a: made.append(1) or fold(*a))
    for seed in range(6):
        predict(model, make_docs(vocab, [5, 90], seed))
    assert made == [1]


@pytest.mark.parametrize("maxout_pieces", [1, 3])
def test_folded_tables_stay(vocab, maxout_pieces):
    model = build_hash(vocab, maxout_pieces=maxout_pieces)
    docs = make_docs(vocab)
    folded = [predict(model, docs) is not None and is_folded(model) for _ in range(5)]
    assert folded == [False, True, True, True, True]


def test_the_size_of_folded_tables_is_bounded(vocab, monkeypatch):
    model, docs = build_hash(vocab), make_docs(vocab)
    n_bytes = (11 + 7 + 5) * 6 * 3 * 4
    monkeypatch.setenv(folding.LIMIT_NAME, str((n_bytes - 1) / 1e6))
    for _ in range(3):
        assert_close(predict(model, docs), predict_reference(model, docs))
    assert not is_folded(model)
    monkeypatch.setenv(folding.LIMIT_NAME, str(n_bytes / 1e6))
    for _ in range(2):
        predict(model, docs)
    assert model.attrs["fold"].folded.F.nbytes == n_bytes
    monkeypatch.setenv(folding.LIMIT_NAME, "much")
    model.attrs["fold"].folded = None
    with pytest.raises(ValueError, match=r"FOLD_MB should be a number .* is 'much'"):
        predict(model, docs)


@pytest.mark.parametrize("name", ["hashembed", "maxout", "layernorm"])
def test_layers_with_other_functions_take_the_reference(vocab, name):
    """Such as the NVTX ranges of `spacy.models_with_nvtx_range.v1`."""
    model, docs = build_hash(vocab), make_docs(vocab)
    expected = predict_reference(model, docs)
    for node in get_nodes(model, name):
        with_nvtx_range(node)
    for _ in range(3):
        np.testing.assert_array_equal(predict(model, docs), expected)
    assert not is_folded(model)


def test_read_only_tables(vocab, tmp_path, monkeypatch):
    """Memory maps that worker processes share, which Thinc's own layer refuses."""
    model, docs = build_hash(vocab), make_docs(vocab, [400])
    expected = predict(model, docs)
    for i, node in enumerate(get_nodes(model, "hashembed")):
        E = node.get_param("E")
        E.tofile(tmp_path / str(i))
        node.set_param(
            "E", np.memmap(tmp_path / str(i), dtype="f", mode="r", shape=E.shape)
        )
        del E
    for _ in range(3):
        assert_close(predict(model, docs), expected)
    assert is_folded(model)
    monkeypatch.setenv(folding.LIMIT_NAME, "0")
    assert_close(predict(model, docs), expected)
