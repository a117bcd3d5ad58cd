"""Words by their characters: on a GPU as on the CPU."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.embedders.char_cnn_embed import CharCNNEmbed
from spacy_hashembeds.layers.charcnn import CharCNN

from ..toy_embedders import (
    assert_close,
    assert_gradients_close,
    build_hash,
    get_gradients,
    make_docs,
    make_vocab,
)

shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15
)


def build(**options) -> Model:
    fix_random_seed(0)
    return CharCNN(3, **{"num_kernels": 2, **options}).initialize()


def assert_equal_gradients(gpu, on_gpu, model) -> None:
    grads = [gpu.get(grad) for grad in get_gradients(on_gpu)]
    assert_gradients_close(grads, get_gradients(model))


@shared
@given(words=st.lists(st.text(max_size=6) | st.text("ab", max_size=25), max_size=9))
def test_values_and_gradients_equal_those_of_the_cpu(gpu, words):
    model = build()
    on_gpu = gpu.copy(model)
    expected, backprop = model.begin_update(words)
    Y, backprop_on_gpu = on_gpu.begin_update(words)
    np.testing.assert_allclose(gpu.get(Y), expected, atol=1e-5)
    dY = np.random.default_rng(0).normal(size=expected.shape).astype("f")
    for _ in range(2):
        backprop(dY)
        backprop_on_gpu(gpu.array(dY))
    if any(words):
        assert_equal_gradients(gpu, on_gpu, model)


@pytest.mark.parametrize("has_word", [False, True])
@pytest.mark.parametrize("width", [None, 7])
@pytest.mark.parametrize("include_static_vectors", [False, True])
def test_the_embedder_is_that_of_the_cpu(gpu, has_word, width, include_static_vectors):
    vocab = make_vocab()
    docs = make_docs(vocab)
    fix_random_seed(0)
    model = CharCNNEmbed(
        width=width,
        include_static_vectors=include_static_vectors,
        word=build_hash(vocab) if has_word else None,
    ).initialize(X=docs)
    on_gpu = gpu.copy(model)
    for expected, Y in zip(model.predict(docs), on_gpu.predict(docs), strict=True):
        assert_close(gpu.get(Y), expected)
    Ys, backprop = model.begin_update(docs)
    dYs = [np.random.default_rng(0).normal(size=Y.shape).astype("f") for Y in Ys]
    assert backprop(dYs) == []
    _, backprop = on_gpu.begin_update(docs)
    assert backprop([gpu.array(dY) for dY in dYs]) == []
    assert_equal_gradients(gpu, on_gpu, model)


def test_gradients_are_the_same_in_every_run(gpu):
    words = ["abcab", "bca", "cab"] * 50
    found = []
    for _ in range(3):
        model = gpu.copy(build())
        Y, backprop = model.begin_update(words)
        dY = np.random.default_rng(0).normal(size=Y.shape).astype("f")
        backprop(gpu.array(dY))
        found.append([gpu.get(grad).tobytes() for grad in get_gradients(model)])
    assert found[0] == found[1] == found[2]
