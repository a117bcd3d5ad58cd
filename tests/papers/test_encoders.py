"""Encoders in PyTorch, compared with its modules and the papers' formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import fix_random_seed
from thinc.compat import torch

from spacy_hashembeds.papers.hashformers.transformer import (
    EPSILON,
    NORMS,
    TransformerEncoder,
    find_spans,
)
from spacy_hashembeds.papers.why_attention.bilstm import DIRECTIONS, BiLSTM
from spacy_hashembeds.papers.why_attention.bilstm_encoders import (
    AttBiLSTMEncoder,
    BiLSTMEncoder,
    CrossBiLSTMEncoder,
)
from spacy_hashembeds.papers.why_attention.selfattention import NAMES, SelfAttention

from ..toy_embedders import get_gradients
from .definitions import make_batch, randomize, run

pytestmark = pytest.mark.torch

# LSTMs and self-attention

LENGTHS = [3, 7, 1, 7]


def run_lstm(model, X, directions) -> np.ndarray:
    """Run PyTorch's LSTM with the weights of some directions."""
    nI, hidden = model.get_dim("nI"), model.get_dim("nO") // 2
    depth, is_both = len(model.param_names) // 6, len(directions) == 2
    twin = torch.nn.LSTM(nI, hidden, depth, batch_first=True, bidirectional=is_both)
    names = {"W": "weight_ih", "U": "weight_hh", "b": "bias_ih"}
    weights = {}
    for layer in range(depth):
        for direction, suffix in zip(directions, ("", "_reverse"), strict=False):
            for ours, theirs in names.items():
                param = model.get_param(f"{ours}_{direction}_{layer + 1}")
                weights[f"{theirs}_l{layer}{suffix}"] = torch.tensor(param)
            weights[f"bias_hh_l{layer}{suffix}"] = torch.zeros(len(param))
    twin.load_state_dict(weights)
    return twin(torch.tensor(X[None].copy()))[0][0].detach().numpy()


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("is_crossed", [False, True])
def test_lstms_equal_pytorchs(depth, is_crossed):
    Xs = make_batch(LENGTHS)
    model = BiLSTM(8, depth=depth, is_crossed=is_crossed, dropout=0.0)
    randomize(model.initialize(X=Xs))
    forward, backward = DIRECTIONS
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        if is_crossed:
            expected = run_lstm(model, X, DIRECTIONS)
        else:
            turned = run_lstm(model, X[::-1], [backward])[::-1]
            expected = np.hstack([run_lstm(model, X, [forward]), turned])
        np.testing.assert_allclose(Y, expected, atol=1e-5)


def test_dropout_of_lstms_is_equal_for_all_tokens_of_a_doc():
    """Tokens are equal: outputs differ only by masks."""
    fix_random_seed(0)
    Xs = [np.ones((4, 5), dtype="f")] * 2
    model = BiLSTM(64, depth=1, is_crossed=False, dropout=0.5).initialize(X=Xs)
    for direction in DIRECTIONS:  # no memory: equal tokens give equal outputs
        model.get_param(f"U_{direction}_1")[:] = 0
        model.get_param(f"b_{direction}_1")[32:64] = -100
    (first, second), _ = model.begin_update(Xs)
    for Y in (first, second):
        np.testing.assert_allclose(Y, Y[:1].repeat(4, axis=0), atol=1e-6)
    assert 0.2 < (first[0] == 0).mean() < 0.8
    differ = (first[0] == 0) != (second[0] == 0)
    assert all(half.any() for half in np.split(differ, 2))
    assert (model.predict(Xs)[0] != 0).all()


def test_initial_weights_of_lstms():
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
            np.testing.assert_array_equal(b, np.repeat([0, 1, 0, 0], 32))


def test_sizes_of_the_papers():
    """Sizes are from §3.2 (two LSTMs of 100 per direction), §3.6, and BERT."""
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
    model = TransformerEncoder(width=768, depth=12, num_heads=12)
    sizes = model.get_dim("hidden_width"), model.get_dim("max_length")
    assert (*sizes, model.attrs["stride"]) == (3072, 512, 256)
    assert model.attrs["dropout"] == model.attrs["attention_dropout"] == 0.1
    strides = [make_layer(max_length=n, stride=None).attrs["stride"] for n in (1, 7)]
    assert strides == [1, 4]


def attend(model, H) -> np.ndarray:
    """Attention as in §3.6."""
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
def test_attention_equals_the_formula(num_heads):
    Xs = make_batch(LENGTHS, width=6)
    model = randomize(SelfAttention(num_heads=num_heads).initialize(X=Xs))
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        np.testing.assert_allclose(Y, attend(model, X), atol=1e-4)


# Transformers

SETTINGS = {
    **{"width": 8, "depth": 2, "num_heads": 2, "hidden_width": 12, "norm": "post"},
    **{"max_length": 16, "stride": 8, "dropout": 0.0, "attention_dropout": 0.0},
}

#: Parameters of PyTorch's layer, by ours.
SUBLAYERS = {
    "attention_{}_in": "self_attn.in_proj_",
    "attention_{}_out": "self_attn.out_proj.",
    "attention_{}_norm": "norm1.",
    "feedforward_{}_in": "linear1.",
    "feedforward_{}_out": "linear2.",
    "feedforward_{}_norm": "norm2.",
}


of_both_norms = pytest.mark.parametrize("norm", NORMS)


def make_layer(**settings):
    fix_random_seed(0)
    return TransformerEncoder(**{**SETTINGS, **settings})


def build(**settings):
    return randomize(make_layer(**settings).initialize())


def run_twin(model, Xs) -> list[np.ndarray]:
    """Compute the result of `run` with PyTorch, without dropout, Doc by Doc."""
    width, norm = model.get_dim("nO"), model.attrs["norm"]
    params = {
        name: torch.tensor(model.get_param(name), requires_grad=True)
        for name in model.param_names
    }
    layer = torch.nn.TransformerEncoderLayer(
        *(width, model.get_dim("num_heads"), model.get_dim("hidden_width")),
        **{"dropout": 0.0, "activation": "gelu", "layer_norm_eps": EPSILON},
        **{"batch_first": True, "norm_first": norm == "pre"},
    )

    def normalize(X):
        G, b = (params[f"{kind}_{NORMS[norm]}"] for kind in "Gb")
        return torch.nn.functional.layer_norm(X, (width,), G, b, EPSILON)

    def encode(X):
        X = X + params["E_positions"][: len(X)]
        X = normalize(X) if norm == "post" else X
        for number in range(1, model.get_dim("depth") + 1):
            weights = {}
            for ours, theirs in SUBLAYERS.items():
                name = ours.format(number)
                gain = "G" if name.endswith("norm") else "W"
                weights[f"{theirs}weight"] = params[f"{gain}_{name}"]
                weights[f"{theirs}bias"] = params[f"b_{name}"]
            X = torch.func.functional_call(layer, weights, (X[None],))[0]
        return normalize(X) if norm == "pre" else X

    inputs = [torch.tensor(X, requires_grad=True) for X in Xs]
    Ys = [encode(X) if len(X) else X for X in inputs]
    for Y in Ys:
        Y.backward(Y.detach().cos())
    leaves = [*inputs, *params.values()]
    return [*(Y.detach().numpy() for Y in Ys), *(leaf.grad.numpy() for leaf in leaves)]


def assert_all_close(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@of_both_norms
@pytest.mark.parametrize("lengths", [[3, 0, 7, 1, 16, 7], [4, 4]])
@pytest.mark.parametrize(("depth", "num_heads"), [(1, 8), (3, 2)])
def test_outputs_and_gradients_equal_pytorch(norm, depth, num_heads, lengths):
    model = build(norm=norm, depth=depth, num_heads=num_heads)
    Xs = make_batch(lengths, width=8)
    assert_all_close(run(model, Xs), run_twin(model, Xs))


@pytest.mark.parametrize("stride", [1, 3, 16])
def test_long_docs_are_read_in_spans(stride):
    """Each span is encoded like a Doc. Gradients of overlaps add up."""
    model, twin, (X,) = build(stride=stride), build(), make_batch([43], width=8)
    spans = [*zip(*find_spans([43], 16, stride), strict=True)]
    read, backprop = twin.begin_update([X[s : s + 16] for s, *_ in spans])
    kept, d_read, dX = [], [], np.zeros_like(X)
    for part, (*_, a, b) in zip(read, spans, strict=True):
        kept.append(part[a:b])
        d_read.append(np.zeros_like(part))
        d_read[-1][a:b] = np.cos(part[a:b])
    for d_part, (s, *_) in zip(backprop(d_read), spans, strict=True):
        dX[s : s + 16] += d_part
    assert_all_close(run(model, [X]), [np.concatenate(kept), dX, *get_gradients(twin)])


@of_both_norms
@pytest.mark.parametrize("place", ["input", "attention_1_out", "feedforward_1_out"])
def test_dropout_is_at_three_places(norm, place):
    """Other values are zero: ones remain where nothing is dropped."""
    model = build(norm=norm, depth=1, width=64, num_heads=1, dropout=0.25)
    for name in model.param_names:
        # with "post", the input is normalized to zeros first
        is_one = name == ("b_input_norm" if place == "input" else f"b_{place}")
        value = is_one or name.startswith("G_")
        model.set_param(name, np.full_like(model.get_param(name), value))
    X = np.full((16, 64), place == "input", dtype="f")
    (Y,), _ = model.begin_update([X])
    is_dropped = Y - Y.min(axis=1, keepdims=True) < 1e-3
    assert 0.15 < is_dropped.mean() < 0.35
    assert len({row.tobytes() for row in Y}) == 16  # independent for each token
    # and once: the residual connection is not dropped
    assert {len(np.unique(row.round(3))) for row in Y} == {2}
    np.testing.assert_allclose(model.predict([X])[0], 0, atol=1e-3)


@of_both_norms
def test_initial_weights(norm):
    sizes = {"width": 64, "hidden_width": 256, "num_heads": 4, "max_length": 512}
    model = make_layer(norm=norm, **sizes).initialize()
    for name in model.param_names:
        values, kind = model.get_param(name), name[0]
        if kind in "Gb":
            assert (values == (kind == "G")).all()
        else:
            assert abs(values.mean()) < 1e-3
            assert 0.0395 < abs(values).max() <= 0.04
            # standard normal distribution truncated at two
            assert values.std() == pytest.approx(0.02 * 0.8796, rel=0.03)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 40), max_size=5), st.integers(1, 8), st.data())
def test_each_token_has_the_span_with_the_most_context(lengths, max_length, data):
    stride = data.draw(st.integers(1, max_length))
    expected, offset = [], 0
    for length in lengths:
        starts = [*range(0, length - max_length, stride), max(length - max_length, 0)]
        size, kept = min(max_length, length), dict[int, list[int]]()
        for token in range(length):
            to_ends = [min(token - s, s + size - 1 - token) for s in starts]
            kept.setdefault(starts[to_ends.index(max(to_ends))], []).append(token)
        for start, tokens in kept.items():
            first, last = tokens[0] - start, tokens[-1] - start + 1
            assert last - first == len(tokens)
            expected.append((offset + start, size, first, last))
        offset += length
    spans = [column.tolist() for column in find_spans(lengths, max_length, stride)]
    assert [*zip(*spans, strict=True)] == expected
