"""Compressors, beside their definitions in the paper."""

import numpy as np
import pytest
from thinc.api import Model, NumpyOps

from spacy_hashembeds.papers.hashformers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
    find_codewords,
)

from ..definitions import assert_is_defined_by

WIDTH, N_BITS, N_ROWS = 3, 11, 7


def find_emb(code, d, *, E) -> float:
    return E[int(code[0]), d]


def find_pool(code, d, *, E, W) -> float:
    chunks = [code[start : start + 4] for start in range(0, len(code), 4)]
    words = [int("".join(str(int(bit)) for bit in chunk), 2) for chunk in chunks]
    weights = np.exp(W[:, d]) / np.exp(W[:, d]).sum()
    return (E[words, d] * weights).sum()


def find_add(code, d, *, E) -> float:
    return sum(E[j, int(bit), d] for j, bit in enumerate(code)) / np.sqrt(len(code))


def find_proj(code, d, *, W) -> float:
    return 0.0 if len(set(code)) == 1 else np.corrcoef(code, W[d])[0, 1]


def initialize(model, width, n_bits) -> Model:
    model.set_dim("nO", width)
    if model.has_dim("nI") is None:
        model.set_dim("nI", n_bits)
    model.initialize()
    state = np.random.default_rng(1)
    for name in model.param_names:
        shape = model.get_param(name).shape
        model.set_param(name, state.normal(size=shape).astype("f"))
    return model


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
    initialize(model, 1, 128)
    assert sum(model.get_param(name).size for name in model.param_names) == count


@pytest.mark.parametrize("n", [0, 1, 12])
@pytest.mark.parametrize(
    ("model", "find"),
    [
        (EmbCompressor(rows=N_ROWS), find_emb),
        (PoolCompressor(num_bits=4), find_pool),
        (AddCompressor(), find_add),
        (ProjCompressor(), find_proj),
    ],
)
def test_it_and_its_gradients_are_those_of_its_equation(model, find, n):
    model = initialize(model.copy(), WIDTH, N_BITS)
    codes = np.random.default_rng(n).integers(2, size=(n, N_BITS)).astype("f")
    codes[:2] = np.array([[0], [1]])[:n]  # which no axis correlates with
    if find is find_emb:
        codes = np.arange(n, dtype="uint32")[:, None] % N_ROWS

    def define(codes, **params) -> np.ndarray:
        rows = [[find(c, d, **params) for d in range(WIDTH)] for c in codes]
        return np.array(rows).reshape(n, WIDTH)

    assert_is_defined_by(define, model, codes)


def test_the_last_codeword_is_the_number_that_its_bits_are():
    bits = np.array([[1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0]], dtype="f")
    words = find_codewords(NumpyOps(), bits, 4)
    assert words.tolist() == [[10], [4], [1], [6]]  # the paper's example, and 3 bits
    ones = np.ones((1, 40), dtype="f")
    assert find_codewords(NumpyOps(), ones, 20).tolist() == [[2**20 - 1]] * 2
