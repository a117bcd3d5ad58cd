"""Embedders compute the same on a GPU as on the CPU."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from thinc.api import Model, fix_random_seed, set_dropout_rate, with_nvtx_range
from thinc.layers.chain import forward as chain_forward

from ..layers.plans import get_cached
from ..toy_embedders import (
    BUILDERS,
    CHANGES,
    assert_close,
    assert_gradients_close,
    build_hash,
    get_gradients,
    get_nodes,
    make_docs,
    make_gradient,
    update,
)

shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=4
)
LENGTHS = st.lists(st.integers(0, 40), max_size=4)


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def model(request, vocab) -> Model:
    fix_random_seed(0)
    return request.param(vocab)


@pytest.fixture(params=["vectors", "lookup", "weighted, symbols"])
def usual(request, vocab) -> Model:
    """A model with each kind of rows."""
    fix_random_seed(0)
    return BUILDERS[request.param](vocab)


def predict(gpu, model, docs) -> np.ndarray:
    return np.concatenate([gpu.get(Y) for Y in model.predict(docs)])


@shared
@example(lengths=[7], drop=0.5, seed=0)  # 8 tokens, a full tile
@example(lengths=[256], drop=0.0, seed=0)
@given(lengths=LENGTHS, drop=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99))
@pytest.mark.usefixtures("same_dropout")
def test_training_equals_training_on_the_cpu(gpu, model, vocab, lengths, drop, seed):
    docs = make_docs(vocab, [*lengths, 1], seed)
    dY = make_gradient(model.predict(docs))
    model = set_dropout_rate(model.copy(), drop)
    on_gpu = gpu.copy(model)
    for _ in range(2):  # the second call adds to existing gradients
        fix_random_seed(seed)
        # Thinc's order of random numbers
        Ys, backprop = chain_forward(model, docs, True)
        backprop([d.copy() for d in dY])
        fix_random_seed(seed)
        actual = update(on_gpu, docs, [*map(gpu.array, dY)])
    assert_close(np.concatenate([gpu.get(Y) for Y in actual]), np.concatenate(Ys))
    grads = [gpu.get(grad) for grad in get_gradients(on_gpu)]
    assert_gradients_close(grads, get_gradients(model))


@pytest.mark.parametrize("change", CHANGES)
def test_predictions_follow_every_change(gpu, usual, vocab, change):
    """Predictions on a GPU are not cached."""
    docs = make_docs(vocab, [60])
    on_gpu = gpu.copy(usual)
    before = predict(gpu, on_gpu, docs)
    assert get_cached(on_gpu.attrs["plan"]) is None
    change(on_gpu, docs)
    expected = np.concatenate(gpu.copy_back(on_gpu).predict(docs))
    assert not np.allclose(expected, before, atol=1e-3), "the change changes nothing"
    for _ in range(2):
        assert_close(predict(gpu, on_gpu, docs), expected)


def test_kernels_are_used(gpu, vocab, used):
    """Otherwise, the tests above would compare the CPU with itself."""
    model = gpu.copy(build_hash(vocab, width=8))
    docs = make_docs(vocab)
    update(model, docs, model.predict(docs))
    names = ["gather_sum", "gather_sum", "sum_runs", "join_runs"]
    assert used == [(name, "float4") for name in names]


def test_wrapped_layers_use_the_reference(gpu, vocab, used):
    model = build_hash(vocab)
    docs = make_docs(vocab)
    expected = np.concatenate(model.predict(docs))
    on_gpu = gpu.copy(model)
    for node in get_nodes(on_gpu, "maxout"):
        with_nvtx_range(node)
    assert_close(predict(gpu, on_gpu, docs), expected)
    assert used == [("gather_sum", "float")] * 3, "table by table"
