"""Transformer layers, beside PyTorch's modules."""

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

from ...toy_embedders import get_gradients
from ..why_attention.lstms import make_batch, run

pytestmark = pytest.mark.torch

SETTINGS = {
    **{"width": 8, "depth": 2, "num_heads": 2, "hidden_width": 12, "norm": "post"},
    **{"max_length": 16, "stride": 8, "dropout": 0.0, "attention_dropout": 0.0},
}

#: The parameters of a layer of PyTorch's, by those of ours.
NAMES = {
    "attention_{}_in": "self_attn.in_proj_",
    "attention_{}_out": "self_attn.out_proj.",
    "attention_{}_norm": "norm1.",
    "feedforward_{}_in": "linear1.",
    "feedforward_{}_out": "linear2.",
    "feedforward_{}_norm": "norm2.",
}


@pytest.fixture(params=NORMS)
def norm(request) -> str:
    return request.param


def make_layer(**settings):
    fix_random_seed(0)
    return TransformerEncoder(**{**SETTINGS, **settings})


def build(**settings):
    """A layer with parameters none of which can be left out."""
    model, state = make_layer(**settings).initialize(), np.random.default_rng(1)
    for name in model.param_names:
        drawn = 0.4 * state.normal(size=model.get_param(name).shape)
        model.set_param(name, (drawn + name.startswith("G_")).astype("f"))
    return model


def run_twin(model, Xs) -> list[np.ndarray]:
    """What `lstms.run` returns, by PyTorch, without dropout, one Doc at a time."""
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
            for ours, theirs in NAMES.items():
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


@pytest.mark.parametrize("lengths", [[3, 0, 7, 1, 16, 7], [4, 4]])
@pytest.mark.parametrize(("depth", "num_heads"), [(1, 8), (3, 2)])
def test_numbers_and_gradients_are_pytorch_s(norm, depth, num_heads, lengths):
    model = build(norm=norm, depth=depth, num_heads=num_heads)
    Xs = make_batch(lengths, width=8)
    assert_all_close(run(model, Xs), run_twin(model, Xs))


@pytest.mark.parametrize("stride", [1, 3, 16])
def test_a_long_doc_is_read_in_spans(stride):
    """Each as if it were a Doc; the gradients of what two of them read add up."""
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


@pytest.mark.parametrize("place", ["input", "attention_1_out", "feedforward_1_out"])
def test_numbers_are_dropped_at_three_places(norm, place):
    """All else is zero, so that ones stay where nothing is dropped."""
    model = build(norm=norm, depth=1, width=64, num_heads=1, dropout=0.25)
    for name in model.param_names:
        # with norms after the sublayers, what is read is normalised to zeros before
        is_one = name == ("b_input_norm" if place == "input" else f"b_{place}")
        value = is_one or name.startswith("G_")
        model.set_param(name, np.full_like(model.get_param(name), value))
    X = np.full((16, 64), place == "input", dtype="f")
    (Y,), _ = model.begin_update([X])
    is_dropped = Y - Y.min(axis=1, keepdims=True) < 1e-3
    assert 0.15 < is_dropped.mean() < 0.35
    assert len({row.tobytes() for row in Y}) == 16  # each token for itself
    # and each once: what was there before the numbers were added is left
    assert {len(np.unique(row.round(3))) for row in Y} == {2}
    np.testing.assert_allclose(model.predict([X])[0], 0, atol=1e-3)


def test_weights_begin_as_is_said(norm):
    sizes = {"width": 64, "hidden_width": 256, "num_heads": 4, "max_length": 512}
    model = make_layer(norm=norm, **sizes).initialize()
    for name in model.param_names:
        values, kind = model.get_param(name), name[0]
        if kind in "Gb":
            assert (values == (kind == "G")).all()
        else:
            assert abs(values.mean()) < 1e-3
            assert 0.0395 < abs(values).max() <= 0.04
            # of a standard normal distribution that is cut at two
            assert values.std() == pytest.approx(0.02 * 0.8796, rel=0.03)


def test_sizes_are_those_of_bert_by_default():
    model = TransformerEncoder(width=768, depth=12, num_heads=12)
    sizes = model.get_dim("hidden_width"), model.get_dim("max_length")
    assert (*sizes, model.attrs["stride"]) == (3072, 512, 256)
    assert model.attrs["dropout"] == model.attrs["attention_dropout"] == 0.1
    strides = [make_layer(max_length=n, stride=None).attrs["stride"] for n in (1, 7)]
    assert strides == [1, 4]


@settings(max_examples=30)
@given(st.lists(st.integers(0, 40), max_size=5), st.integers(1, 8), st.data())
def test_each_token_has_the_span_with_most_around_it(lengths, max_length, data):
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
