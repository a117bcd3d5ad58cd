"""Layers that a config can name compute the same on a GPU: see `tests/contract.py`."""

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.layers.vocabulary import Symbols, assign_symbols

from ..contract import Case, get_vocab, initialize_embedder, is_hasher
from ..layers.test_tables import BUILDERS, IDS, build_symbol_embed
from ..test_contract import list_cases
from ..toy_embedders import get_gradients, make_docs


def runs_on_gpus(case: Case) -> bool:
    """Return False for hashers, which have no arrays, and LSTMs, which use cuDNN."""
    return not is_hasher(case) and "LSTM" not in case.layer


def is_embedder(case: Case) -> bool:
    return case.initialize is initialize_embedder


def put(model: Model, X):
    """Copy arrays to the device of a model. Words and Docs stay on the CPU."""
    if isinstance(X, np.ndarray):
        return model.ops.asarray(X)
    return [put(model, x) if isinstance(x, np.ndarray) else x for x in X]


def get(model: Model, Y) -> np.ndarray:
    """Return all numbers of an output or a gradient."""
    arrays = Y if isinstance(Y, list) else [Y]
    numbers = [model.ops.to_numpy(array).reshape(-1) for array in arrays]
    return np.concatenate([np.zeros(0, "f"), *numbers])


def run(model: Model, batch) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return outputs, and gradients of weights and of inputs that are arrays."""
    X = put(model, batch)
    predicted = model.predict(X)
    fix_random_seed(0)
    Y, backprop = model.begin_update(X)
    for _ in range(2):  # the second call adds to existing gradients
        dX = backprop([2 * y - 1 for y in Y] if isinstance(Y, list) else 2 * Y - 1)
    gradients = get_gradients(model)
    if isinstance(batch, np.ndarray) or isinstance(batch[0], np.ndarray):
        gradients.append(dX)
    outputs = [get(model, predicted), get(model, Y)]
    return outputs, [get(model, gradient) for gradient in gradients]


def assert_same_on(gpu, model, batch, atol=1e-4) -> None:
    """Compare numbers, relative to the largest one."""
    found, expected = run(gpu.copy(model), batch), run(model, batch)
    for arrays, others in zip(found, expected, strict=True):
        assert len(arrays) == len(others) > 0
        scale = max(1, *(abs(other).max(initial=0) for other in others))
        for array, other in zip(arrays, others, strict=True):
            np.testing.assert_allclose(array / scale, other / scale, atol=atol)


@pytest.mark.parametrize("case", list_cases(runs_on_gpus))
def test_values_and_gradients_equal_those_of_the_cpu(gpu, case):
    atol = 1e-3 if case.layer == "TransformerEncoder" else 1e-4  # PyTorch's kernels
    assert_same_on(gpu, case.build(), case.make_batch(), atol)


def draw_weights(model: Model) -> Model:
    """Initialize a layer with random weights, each of which changes the output."""
    state = np.random.default_rng(0)
    for node in model.initialize().walk():
        for name in node.param_names:
            shape = node.get_param(name).shape
            node.set_param(name, state.normal(size=shape).astype("f"))
    return model


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
@pytest.mark.usefixtures("same_dropout")
def test_tables(gpu, build):
    """Keys have another dtype, are in a column, or are empty; there is dropout."""
    ids = IDS[IDS < 2**63].astype("int64")
    columns = np.stack([ids, ids[::-1]], axis=1)
    assert_same_on(gpu, draw_weights(build(dropout=0.5)), ids)
    assert_same_on(gpu, draw_weights(build(column=1)), columns)
    assert_same_on(gpu, draw_weights(build()), ids[:0])


def test_symbols_can_be_replaced(gpu):
    """Their copy on the GPU is updated, and is not saved."""
    on_cpu = build_symbol_embed().initialize()
    model = gpu.copy(on_cpu)
    ids = np.array([3, 8, 900], dtype="uint64")
    before = gpu.get(model.predict(gpu.array(ids)))
    assert len(model.to_bytes()) == len(on_cpu.to_bytes())
    assign_symbols(model, Symbols(np.array([8, 9, 10, 11], dtype="uint64")))
    expected = gpu.copy_back(model).predict(ids)
    Y = gpu.get(model.predict(gpu.array(ids)))
    np.testing.assert_allclose(Y, expected, atol=1e-6)
    assert not np.allclose(before, expected)


@pytest.mark.parametrize("case", list_cases(is_embedder))
def test_gradients_are_the_same_in_every_run(gpu, case):
    """All bits are equal, even if dozens of tokens share a row."""
    model = gpu.copy(case.build())
    gradients = [run(model.copy(), case.make_batch())[1] for _ in range(2)]
    for array, other in zip(*gradients, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("case", list_cases(is_embedder))
def test_no_tokens(gpu, case):
    model = gpu.copy(case.build())
    width = model.predict(case.make_batch()[:1])[0].shape[1]
    for lengths in ([], [0, 0]):
        docs = make_docs(get_vocab(), lengths)
        for is_train in (False, True):
            Ys, backprop = model(docs, is_train)
            assert [Y.shape for Y in Ys] == [(0, width)] * len(docs)
            assert backprop(Ys) == []
    assert not any(gradient.any() for gradient in get_gradients(model))
