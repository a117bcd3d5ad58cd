"""Words by their codes: on a GPU as on the CPU."""

import itertools

import numpy as np
import pytest
from thinc.api import Model

from ..architectures.embedders.test_hash_former_embed import (
    COMPRESSORS,
    HASHERS,
    KINDS,
    build,
    build_kind,
)
from ..toy_embedders import (
    assert_close,
    assert_gradients_close,
    get_gradients,
    make_docs,
    make_vocab,
)


def update(model, docs, dYs) -> list:
    Ys, backprop = model.begin_update(docs)
    assert backprop(dYs) == []
    return Ys


def make_gradients(model, docs) -> list[np.ndarray]:
    state = np.random.default_rng(0)
    return [state.normal(size=Y.shape).astype("f") for Y in model.predict(docs)]


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients_equal_those_of_the_cpu(gpu, kind):
    vocab = make_vocab()
    docs = make_docs(vocab, [5, 0, 40])
    model = build_kind(kind, vocab)
    on_gpu: Model = gpu.copy(model)
    for expected, Y in zip(model.predict(docs), on_gpu.predict(docs), strict=True):
        assert_close(gpu.get(Y), expected)
    dYs = make_gradients(model, docs)
    for _ in range(2):
        update(model, docs, dYs)
        update(on_gpu, docs, [gpu.array(dY) for dY in dYs])
    grads = [gpu.get(grad) for grad in get_gradients(on_gpu)]
    assert_gradients_close(grads, get_gradients(model))


def test_no_tokens(gpu):
    vocab = make_vocab()
    model = gpu.copy(build(vocab))
    for lengths in ([], [0, 0]):
        Ys, backprop = model.begin_update(make_docs(vocab, lengths))
        assert [Y.shape for Y in Ys] == [(0, 6)] * len(lengths)
        assert backprop(Ys) == []


@pytest.mark.parametrize("pair", list(itertools.product(HASHERS, COMPRESSORS)))
def test_gradients_are_the_same_in_every_run(gpu, pair):
    vocab = make_vocab()
    docs, found = make_docs(vocab, [300, 200]), []
    for _ in range(3):
        cpu = build(vocab, pair)
        model = gpu.copy(cpu)
        update(model, docs, [gpu.array(dY) for dY in make_gradients(cpu, docs)])
        found.append([gpu.get(grad).tobytes() for grad in get_gradients(model)])
    assert found[0] == found[1] == found[2]
