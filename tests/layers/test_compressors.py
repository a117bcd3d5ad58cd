"""Compressors: beside their definitions, finite differences."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Model, NumpyOps, fix_random_seed, set_dropout_rate

from spacy_hashembeds.layers.compressors import (
    AddCompressor,
    EmbCompressor,
    PoolCompressor,
    ProjCompressor,
    find_codewords,
)

from .differences import differentiate

WIDTH, N_BITS, N_ROWS = 3, 11, 7

KINDS: dict[str, Callable[[], Model]] = {
    "emb": lambda: EmbCompressor(rows=N_ROWS),
    "pool": lambda: PoolCompressor(num_bits=4),
    "add": AddCompressor,
    "proj": ProjCompressor,
}


def build(kind, width=WIDTH, n_bits=N_BITS) -> Model:
    fix_random_seed(0)
    model = KINDS[kind]()
    model.set_dim("nO", width)
    if kind != "emb":
        model.set_dim("nI", n_bits)
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
    return state.integers(2, size=(n, N_BITS)).astype("f")


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


def compress_plainly(kind, params, codes) -> np.ndarray:
    """A code and a dimension at a time, in the words of the paper's equations."""
    params = {name: param.astype("float64") for name, param in params.items()}
    n_out = WIDTH
    Y = np.zeros((len(codes), n_out))
    for i, code in enumerate(codes):
        for d in range(n_out):
            Y[i, d] = _EQUATIONS[kind](params, code, d)
    return Y


def _emb(params, code, d) -> float:
    return params["E"][int(code[0]), d]


def _pool(params, code, d) -> float:
    chunks = [code[start : start + 4] for start in range(0, len(code), 4)]
    words = [int("".join(str(int(bit)) for bit in chunk), 2) for chunk in chunks]
    weights = np.exp(params["W"][:, d])
    weights /= weights.sum()
    return sum(params["E"][c, d] * w for c, w in zip(words, weights, strict=True))


def _add(params, code, d) -> float:
    total = sum(params["E"][j, int(bit), d] for j, bit in enumerate(code))
    return total / np.sqrt(len(code))


def _proj(params, code, d) -> float:
    if len(set(code)) == 1:
        return 0.0
    return float(np.corrcoef(code, params["W"][d])[0, 1])


_EQUATIONS = {"emb": _emb, "pool": _pool, "add": _add, "proj": _proj}


def get_params(model) -> dict[str, np.ndarray]:
    return {name: model.get_param(name) for name in model.param_names}


@given(seed=st.integers(0, 1000), n=st.integers(0, 12))
@settings(max_examples=20)
@pytest.mark.parametrize("name", KINDS)
def test_it_is_its_equation(name, seed, n):
    model, codes = build(name), make_codes(name, n, seed)
    Y = model.predict(codes)
    assert (Y.shape, Y.dtype) == ((n, WIDTH), "float32")
    expected = compress_plainly(name, get_params(model), codes)
    np.testing.assert_allclose(Y, expected, atol=1e-5)
    trained, _ = model.begin_update(codes)
    np.testing.assert_array_equal(trained, Y)


def make_gradient(Y, seed=3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=Y.shape).astype("f")


def update(model, codes, dY) -> np.ndarray:
    Y, backprop = model.begin_update(codes)
    backprop(dY)
    return Y


def test_gradients_equal_finite_differences(kind):
    model, codes = build(kind), make_codes(kind)
    params = {k: v.astype("float64") for k, v in get_params(model).items()}
    dY = make_gradient(model.predict(codes))
    update(model, codes, dY)

    def get_loss():
        return (compress_plainly(kind, params, codes) * dY).sum()

    for name, param in params.items():
        gradient = differentiate(get_loss, param, step=1e-6)
        np.testing.assert_allclose(model.get_grad(name), gradient, atol=1e-4)


def test_the_last_codeword_is_the_number_that_its_bits_are():
    bits = np.array([[1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0]], dtype="f")
    words = find_codewords(NumpyOps(), bits, 4)
    assert words.tolist() == [[10], [4], [1], [6]]  # the paper's example, and 3 bits
    assert find_codewords(NumpyOps(), bits[:, :12], 20).tolist() == [[0b101001000001]]
    ones = np.ones((1, 40), dtype="f")
    assert find_codewords(NumpyOps(), ones, 20).tolist() == [[2**20 - 1]] * 2


def test_large_weights_of_codewords_do_not_overflow():
    """Neither among each other nor beside those of another dimension."""
    model, codes = build("pool"), make_codes("pool")
    W = 100 * model.get_param("W")
    W[:, 0] -= 400
    model.set_param("W", W)
    expected = compress_plainly("pool", get_params(model), codes)
    np.testing.assert_allclose(model.predict(codes), expected, atol=1e-5)


def test_no_axis_correlates_with_equal_bits():
    model = build("proj")
    equal = np.array([[0] * N_BITS, [1] * N_BITS], dtype="f")
    Y, backprop = model.begin_update(equal)
    assert not Y.any()
    backprop(np.ones_like(Y))
    assert not model.get_grad("W").any()


def test_how_long_an_axis_is_makes_no_difference():
    model, codes = build("proj"), make_codes("proj")
    expected = model.predict(codes)
    model.set_param("W", model.get_param("W") * np.float32(2**-16))
    np.testing.assert_allclose(model.predict(codes), expected, rtol=1e-5, atol=1e-6)


def test_an_axis_of_equal_numbers_is_no_division_by_zero():
    model = build("proj")
    model.set_param("W", np.full((WIDTH, N_BITS), 0.5, dtype="f"))
    Y = update(model, make_codes("proj"), np.ones((9, WIDTH), dtype="f"))
    assert np.isfinite(Y).all()
    assert np.isfinite(model.get_grad("W")).all()


def test_whole_dimensions_are_dropped_and_only_in_training(kind):
    model, codes = build(kind, width=100), make_codes(kind)
    clean = model.predict(codes)
    set_dropout_rate(model, 0.5)
    np.testing.assert_array_equal(model.predict(codes), clean)
    Y, backprop = model.begin_update(codes)
    is_dropped = (Y == 0).all(axis=0)
    assert 0.2 < is_dropped.mean() < 0.8
    np.testing.assert_allclose(Y[:, ~is_dropped], 2 * clean[:, ~is_dropped], atol=1e-5)
    backprop(np.ones_like(Y))
    for name in model.param_names:
        gradient = np.moveaxis(model.get_grad(name), 0 if kind == "proj" else -1, 0)
        assert not gradient[is_dropped].any()


def test_it_begins_small_as_other_embedders(kind):
    fix_random_seed(0)
    model = KINDS[kind]()
    model.set_dim("nO", 96)
    if kind != "emb":
        model.set_dim("nI", N_BITS)
    Y = model.initialize().predict(make_codes(kind))
    assert 0.02 < Y.std() < 0.5


@pytest.mark.parametrize("others", [("add", "proj"), ("proj", "add")])
def test_weights_of_another_compressor_are_refused(others):
    """`spacy pretrain` gives them to pipelines that have some already."""
    source, model = map(build, others)
    model.predict(make_codes("add"))
    model.from_bytes(source.to_bytes())
    (foreign,) = source.param_names
    with pytest.raises(ValueError, match=f"not of the 1 that it needs: {foreign}"):
        model.predict(make_codes("add"))
