"""Embedders, on a GPU as on the CPU."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.vocab import Vocab
from thinc.api import Adam, Model, fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures import mix_attributes
from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels import cuda
from spacy_hashembeds.layers import folding

from ..toy_embedders import (
    BUILDERS,
    CHANGES,
    assert_close,
    build_hash,
    get_gradients,
    get_weights,
    make_docs,
    make_vocab,
)

shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10
)
LENGTHS = st.lists(st.integers(0, 40), max_size=4)


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    return make_vocab()


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def model(request, vocab) -> Model:
    fix_random_seed(0)
    return request.param(vocab)


def predict(gpu, model, docs) -> np.ndarray:
    return np.concatenate([gpu.get(Y) for Y in model.predict(docs)])


def is_folded(model) -> bool:
    return model.attrs["fold"].folded is not None


@shared
@given(lengths=LENGTHS, seed=st.integers(0, 99), limit=st.sampled_from(["0", "256"]))
def test_predictions_equal_those_of_the_cpu(
    gpu, model, vocab, lengths, seed, limit, monkeypatch
):
    monkeypatch.setenv(folding.LIMIT_NAME, limit)
    docs = make_docs(vocab, [*lengths, 1], seed)
    on_gpu = gpu.copy(model)
    expected = np.concatenate(model.predict(docs))
    assert_close(predict(gpu, on_gpu, docs), expected)
    assert is_folded(on_gpu) == (limit == "256")
    assert [len(Y) for Y in on_gpu.predict(docs)] == [len(doc) for doc in docs]


def update(model, docs, gradients):
    Ys, backprop = model.begin_update(docs)
    assert backprop(gradients) == []
    return Ys


@shared
@given(lengths=LENGTHS, drop=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99))
@pytest.mark.usefixtures("same_dropout")
def test_training_equals_that_of_the_cpu(gpu, model, vocab, lengths, drop, seed):
    docs = make_docs(vocab, [*lengths, 1], seed)
    state = np.random.default_rng(seed)
    dY = [state.normal(size=(len(doc), 6)).astype("f") for doc in docs]
    model = set_dropout_rate(model.copy(), drop)
    on_gpu = gpu.copy(model)
    for _ in range(2):  # onto gradients that are there already
        fix_random_seed(seed)
        # the order of random numbers is Thinc's
        Ys, backprop = mix_attributes.forward_reference(model, docs, True)
        backprop([d.copy() for d in dY])
        fix_random_seed(seed)
        actual = update(on_gpu, docs, [gpu.array(d) for d in dY])
    assert_close(np.concatenate([gpu.get(Y) for Y in actual]), np.concatenate(Ys))
    expected_grads = get_gradients(model)
    grads = get_gradients(on_gpu)
    assert len(grads) == len(expected_grads) > 0
    for grad, expected in zip(grads, expected_grads, strict=True):
        assert_close(gpu.get(grad), expected)


def test_no_tokens(gpu, model, vocab):
    on_gpu = gpu.copy(model)
    for docs in ([], make_docs(vocab, [0, 0])):
        for is_train in (False, True):
            Ys, backprop = on_gpu(docs, is_train)
            assert [Y.shape for Y in Ys] == [(0, 6)] * len(docs)
            assert backprop(Ys) == []
    assert get_gradients(on_gpu) == []


@pytest.mark.parametrize("change", CHANGES)
def test_folded_tables_are_never_stale(gpu, model, vocab, change):
    docs = make_docs(vocab, [60])
    on_gpu = gpu.copy(model)
    before = predict(gpu, on_gpu, docs)
    assert is_folded(on_gpu)
    change(on_gpu, docs)
    expected = np.concatenate(gpu.copy_back(on_gpu).predict(docs))
    assert not np.allclose(expected, before, atol=1e-3), "the change changes nothing"
    for _ in range(2):
        assert_close(predict(gpu, on_gpu, docs), expected)
    assert is_folded(on_gpu)


def test_weights_held_from_before_can_be_changed(gpu, model, vocab):
    docs = make_docs(vocab, [60])
    on_gpu = gpu.copy(model)
    predict(gpu, on_gpu, docs)
    views = [node.get_param(name)[...] for node, name in get_weights(on_gpu)]
    for factor in (2.0, -1.0):
        for view in views:
            view *= factor
        expected = np.concatenate(gpu.copy_back(on_gpu).predict(docs))
        assert_close(predict(gpu, on_gpu, docs), expected)
        assert not is_folded(on_gpu)


def test_folded_tables_are_made_once(gpu, vocab, monkeypatch):
    model = gpu.copy(build_hash(vocab))
    made = []
    fold = folding.fold
    monkeypatch.setattr(folding, "fold", lambda *a: made.append(1) or fold(*a))
    for seed in range(4):
        predict(gpu, model, make_docs(vocab, [5, 90], seed))
    assert made == [1]


def test_copies_do_not_share_folded_tables(gpu, model, vocab):
    docs = make_docs(vocab, [60])
    on_gpu = gpu.copy(model)
    expected = predict(gpu, on_gpu, docs)
    assert len(on_gpu.to_bytes()) == len(model.to_bytes()), "nothing more is saved"
    for copied in (copy.deepcopy(on_gpu), pickle.loads(pickle.dumps(on_gpu))):
        assert not is_folded(copied)
        for node, name in get_weights(copied):
            node.get_param(name)[...] *= -1.5
        assert not np.allclose(predict(gpu, copied, docs), expected, atol=1e-3)
        assert_close(predict(gpu, on_gpu, docs), expected)


def test_equal_seeds_give_equal_weights(gpu, model, vocab):
    """To the last bit, also where dozens of tokens share a row."""

    def train() -> bytes:
        on_gpu = gpu.copy(set_dropout_rate(model.copy(), 0.2))
        fix_random_seed(0)
        optimizer = Adam(0.01)
        for seed in range(3):
            docs = make_docs(vocab, [120], seed)
            state = np.random.default_rng(seed)
            dY = state.normal(size=(120, 6)).astype("f")
            update(on_gpu, docs, [gpu.array(dY)])
            on_gpu.finish_update(optimizer)
        return gpu.copy_back(on_gpu).to_bytes()

    assert train() == train()


def test_layers_that_somebody_wrapped_take_the_reference(gpu, vocab, monkeypatch):
    model = build_hash(vocab)
    docs = make_docs(vocab)
    expected = np.concatenate(model.predict(docs))
    monkeypatch.setattr(mix_attributes, "find_parts", lambda model: None)
    assert_close(predict(gpu, gpu.copy(model), docs), expected)


def test_kernels_are_used(gpu, vocab, monkeypatch):
    """Else the tests above would compare the CPU with itself."""
    used = []
    get_kernel = cuda.get_kernel
    monkeypatch.setattr(cuda, "get_kernel", lambda n: used.append(n) or get_kernel(n))
    model = gpu.copy(build_hash(vocab))
    docs = make_docs(vocab)
    update(model, docs, model.predict(docs))
    kernels = [name.rsplit("_", 1)[0] for name in used]
    assert kernels == ["gather_sum", "gather_sum", "sum_runs", "join_runs"]


@shared
@given(lengths=LENGTHS, depth=st.integers(1, 3), seed=st.integers(0, 99))
def test_encoder_equals_that_of_the_cpu(gpu, lengths, depth, seed):
    fix_random_seed(seed)
    model = MaxoutWindowEncoder(width=6, window_size=1, maxout_pieces=2, depth=depth)
    state = np.random.default_rng(seed)
    Xs = [state.normal(size=(n, 6)).astype("f") for n in [*lengths, 1]]
    model.initialize(X=Xs)
    on_gpu = gpu.copy(model)
    expected, backprop = model.begin_update(Xs)
    expected_dXs = backprop(Xs)
    actual, backprop = on_gpu.begin_update([gpu.array(X) for X in Xs])
    dXs = backprop([gpu.array(X) for X in Xs])
    for Y, dX, *e in zip(actual, dXs, expected, expected_dXs, strict=True):
        assert_close(gpu.get(Y), e[0])
        assert_close(gpu.get(dX), e[1])
    for a, b in zip(get_gradients(on_gpu), get_gradients(model), strict=True):
        assert_close(gpu.get(a), b)
