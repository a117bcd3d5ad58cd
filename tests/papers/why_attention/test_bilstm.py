"""LSTMs from both ends and self-attention, beside PyTorch and the formula."""

import numpy as np
import pytest
from thinc.api import fix_random_seed
from thinc.compat import torch

from spacy_hashembeds.papers.why_attention.bilstm import DIRECTIONS, BiLSTM
from spacy_hashembeds.papers.why_attention.bilstm_encoders import (
    AttBiLSTMEncoder,
    BiLSTMEncoder,
    CrossBiLSTMEncoder,
)
from spacy_hashembeds.papers.why_attention.selfattention import NAMES, SelfAttention

from .lstms import make_batch

pytestmark = pytest.mark.torch

LENGTHS = [3, 7, 1, 7]


def build(depth=2, *, is_crossed=False, dropout=0.0, nO=8):
    fix_random_seed(0)
    model = BiLSTM(nO, depth=depth, is_crossed=is_crossed, dropout=dropout)
    model.initialize(X=make_batch(LENGTHS))
    for name in model.param_names:
        if name.startswith("b_"):  # so that a bias left out is seen
            b = model.get_param(name)
            model.set_param(name, b + np.linspace(-1, 1, len(b), dtype="f"))
    return model


def make_twin(model, *directions):
    """PyTorch's LSTM with the weights of some directions."""
    depth = len(model.param_names) // 6
    twin = torch.nn.LSTM(
        *(model.get_dim("nI"), model.get_dim("nO") // 2, depth),
        **{"batch_first": True, "bidirectional": len(directions) == 2},
    )
    names = {"W": "weight_ih", "U": "weight_hh", "b": "bias_ih"}
    weights = {}
    for layer in range(depth):
        for direction, suffix in zip(directions, ("", "_reverse"), strict=False):
            for ours, theirs in names.items():
                param = model.get_param(f"{ours}_{direction}_{layer + 1}")
                weights[f"{theirs}_l{layer}{suffix}"] = torch.tensor(param)
            weights[f"bias_hh_l{layer}{suffix}"] = torch.zeros(len(param))
    twin.load_state_dict(weights)
    return twin


def run_twin(twin, X):
    return twin(torch.tensor(X[None].copy()))[0][0].detach().numpy()


@pytest.mark.parametrize("depth", [1, 3])
def test_the_baseline_is_two_stacks_that_never_meet(depth):
    model, Xs = build(depth), make_batch(LENGTHS)
    forward, backward = (make_twin(model, direction) for direction in DIRECTIONS)
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        expected = np.hstack([run_twin(forward, X), run_twin(backward, X[::-1])[::-1]])
        np.testing.assert_allclose(Y, expected, atol=1e-6)


@pytest.mark.parametrize("depth", [1, 3])
def test_crossed_ones_are_pytorch_s_bidirectional_lstm(depth):
    model, Xs = build(depth, is_crossed=True), make_batch(LENGTHS)
    twin = make_twin(model, *DIRECTIONS)
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        np.testing.assert_allclose(Y, run_twin(twin, X), atol=1e-6)


def test_dropout_is_the_same_for_all_tokens_of_a_doc():
    """Equal tokens, so that all there is to differ are the masks."""
    model = build(1, dropout=0.5, nO=64)
    for direction in DIRECTIONS:  # no memory: equal tokens give equal outputs
        model.get_param(f"U_{direction}_1")[:] = 0
        model.get_param(f"b_{direction}_1")[32:64] = -100
    Xs = [np.ones((4, 5), dtype="f")] * 2
    (first, second), _ = model.begin_update(Xs)
    for Y in (first, second):
        np.testing.assert_allclose(Y, Y[:1].repeat(4, axis=0), atol=1e-6)
    assert 0.2 < (first[0] == 0).mean() < 0.8
    assert (first[0] != second[0]).any()
    assert (model.predict(Xs)[0] != 0).all()


def test_weights_begin_as_is_said():
    fix_random_seed(0)
    model = BiLSTM(64, depth=2, is_crossed=True, dropout=0.0)
    model.initialize(X=make_batch([3]))
    for direction in DIRECTIONS:
        for layer, below in ((1, 5), (2, 64)):
            W, U, b = (model.get_param(f"{n}_{direction}_{layer}") for n in "WUb")
            assert W.shape == (128, below)
            bound = (6 / (32 + below)) ** 0.5
            assert 0.9 * bound < abs(W).max() <= bound
            for gate in np.split(U, 4):
                np.testing.assert_allclose(gate @ gate.T, np.eye(32), atol=1e-5)
            for weights in (W, U):
                assert len({gate.tobytes() for gate in np.split(weights, 4)}) == 4
            expected = np.repeat([0, 1, 0, 0], 32)
            np.testing.assert_array_equal(b, expected)


def test_sizes_are_those_of_the_paper():
    """§3.2: two LSTMs of 100 in each direction; §3.6: five heads of 40."""
    Xs = make_batch([3], width=364)
    for build_encoder, width, n_parameters in [
        (BiLSTMEncoder, 200, 2 * (186_000 + 80_400)),
        (CrossBiLSTMEncoder, 200, 2 * (186_000 + 120_400)),
        (AttBiLSTMEncoder, 400, 2 * (186_000 + 80_400) + 3 * 200 * 200),
    ]:
        model = build_encoder(width=width).initialize(X=Xs)
        assert model.predict(Xs)[0].shape == (3, width)
        sizes = [n.get_param(p).size for n in model.walk() for p in n.param_names]
        assert sum(sizes) == n_parameters


@pytest.mark.parametrize(
    ("build_encoder", "settings"),
    [
        (BiLSTMEncoder, {"width": 21}),
        (CrossBiLSTMEncoder, {"width": 21}),
        (AttBiLSTMEncoder, {"width": 42, "num_heads": 3}),
        (AttBiLSTMEncoder, {"width": 40, "num_heads": 3}),
    ],
)
def test_directions_and_heads_have_equal_parts(build_encoder, settings):
    with pytest.raises(ValueError, match="'width' should be"):
        build_encoder(**settings)


def attend(model, H) -> np.ndarray:
    """What the paper writes (§3.6)."""
    m = model.attrs["num_heads"]
    d_c = H.shape[1] // m
    contexts = []
    for i in range(m):
        part = slice(i * d_c, (i + 1) * d_c)
        W_q, W_k, W_v = (model.get_param(name)[:, part] for name in NAMES)
        E = np.exp((H @ W_q) @ (H @ W_k).T / np.sqrt(d_c))
        contexts.append(E / E.sum(axis=1, keepdims=True) @ H @ W_v)
    return np.hstack([H, *contexts])


@pytest.mark.parametrize("num_heads", [1, 3])
def test_attention_is_the_formula_of_the_paper(num_heads):
    Xs = make_batch(LENGTHS, width=6)
    model = SelfAttention(num_heads=num_heads).initialize(X=Xs)
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        np.testing.assert_allclose(Y, attend(model, X), atol=1e-6)
