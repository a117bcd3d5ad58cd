"""Compressors, beside their definitions in the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Model, NumpyOps

from spacy_hashembeds.papers.hashformers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
    find_codewords,
)

from ...layers.differences import differentiate

WIDTH, N_BITS, N_ROWS = 3, 11, 7


def find_emb(E, code, d) -> float:
    return E[int(code[0]), d]


def find_pool(E, W, code, d) -> float:
    chunks = [code[start : start + 4] for start in range(0, len(code), 4)]
    words = [int("".join(str(int(bit)) for bit in chunk), 2) for chunk in chunks]
    weights = np.exp(W[:, d]) / np.exp(W[:, d]).sum()
    return (E[words, d] * weights).sum()


def find_add(E, code, d) -> float:
    return sum(E[j, int(bit), d] for j, bit in enumerate(code)) / np.sqrt(len(code))


def find_proj(W, code, d) -> float:
    return 0.0 if len(set(code)) == 1 else np.corrcoef(code, W[d])[0, 1]


#: A layer, and the equation of one dimension of one code.
KINDS = {
    "emb": (lambda: EmbCompressor(rows=N_ROWS), find_emb),
    "pool": (lambda: PoolCompressor(num_bits=4), find_pool),
    "add": (AddCompressor, find_add),
    "proj": (ProjCompressor, find_proj),
}


def build(kind) -> Model:
    model = KINDS[kind][0]()
    model.set_dim("nO", WIDTH)
    if kind != "emb":
        model.set_dim("nI", N_BITS)
    model.initialize()
    state = np.random.default_rng(1)
    for name in model.param_names:
        # far enough from each other for differences of float32
        shape = model.get_param(name).shape
        model.set_param(name, state.normal(size=shape).astype("f"))
    return model


def make_codes(kind, n=9, seed=2) -> np.ndarray:
    state = np.random.default_rng(seed)
    if kind == "emb":
        return state.integers(N_ROWS, size=(n, 1)).astype("uint32")
    codes = state.integers(2, size=(n, N_BITS)).astype("f")
    codes[:2] = np.array([[0], [1]])[:n]  # which no axis correlates with
    return codes


def compress_plainly(kind, params, codes) -> np.ndarray:
    find = KINDS[kind][1]
    rows = [[find(code=c, d=d, **params) for d in range(WIDTH)] for c in codes]
    return np.array(rows).reshape(len(codes), WIDTH)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (EmbCompressor(rows=50_260), 50_260),
        (PoolCompressor(), 13 + 1024),
        (AddCompressor(), 2 * 128),
        (ProjCompressor(), 128),
    ],
)
def test_parameters_are_those_of_the_paper(model, count):
    """For each dimension of the output, of codes of 128 bits."""
    model.set_dim("nO", 1)
    if model.has_dim("nI") is None:
        model.set_dim("nI", 128)
    model.initialize()
    assert sum(model.get_param(name).size for name in model.param_names) == count


@given(seed=st.integers(0, 1000), n=st.integers(0, 12))
@settings(max_examples=5)
@pytest.mark.parametrize("kind", KINDS)
def test_it_and_its_gradients_are_those_of_its_equation(kind, seed, n):
    model, codes = build(kind), make_codes(kind, n, seed)
    params = {n: model.get_param(n).astype("float64") for n in model.param_names}
    Y, backprop = model.begin_update(codes)
    assert Y.dtype == "float32"
    expected = compress_plainly(kind, params, codes)
    np.testing.assert_allclose(Y, expected, atol=1e-5)
    dY = np.random.default_rng(3).normal(size=Y.shape).astype("f")
    backprop(dY)

    def get_loss():
        return (compress_plainly(kind, params, codes) * dY).sum()

    for name, param in params.items():
        gradient = differentiate(get_loss, param, step=1e-6)
        np.testing.assert_allclose(model.get_grad(name), gradient, atol=1e-4)


def test_the_last_codeword_is_the_number_that_its_bits_are():
    bits = np.array([[1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0]], dtype="f")
    words = find_codewords(NumpyOps(), bits, 4)
    assert words.tolist() == [[10], [4], [1], [6]]  # the paper's example, and 3 bits
    ones = np.ones((1, 40), dtype="f")
    assert find_codewords(NumpyOps(), ones, 20).tolist() == [[2**20 - 1]] * 2
