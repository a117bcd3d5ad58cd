"""Transformer layers, beside PyTorch's modules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import fix_random_seed

from spacy_hashembeds.papers.hashformers.transformer import (
    NORMS,
    TransformerEncoder,
    find_spans,
)

from ...toy_embedders import get_gradients
from ..why_attention.lstms import make_batch, run
from .transformers import make_layer, randomise, run_twin

pytestmark = pytest.mark.torch

LENGTHS = [3, 0, 7, 1, 16, 7]


def build(*, seed=0, **settings):
    fix_random_seed(seed)
    model = make_layer(**settings).initialize()
    randomise(model)
    return model


def make_docs(lengths=LENGTHS, seed=0):
    return make_batch(lengths, width=8, seed=seed)


@pytest.fixture(params=NORMS)
def norm(request) -> str:
    return request.param


@pytest.mark.parametrize(("depth", "num_heads"), [(1, 8), (3, 2)])
def test_numbers_and_gradients_are_pytorch_s(norm, depth, num_heads):
    model = build(norm=norm, depth=depth, num_heads=num_heads)
    for Xs in map(make_docs, (LENGTHS, [4, 4])):
        for array, other in zip(run(model, Xs), run_twin(model, Xs), strict=True):
            np.testing.assert_allclose(array, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("stride", [1, 3, 16])
def test_a_long_doc_is_read_in_spans(stride):
    """Each as if it were a Doc; the gradients of what two of them read add up."""
    model, twin, (X,) = build(stride=stride), build(), make_docs([43])
    (Y,), backprop = model.begin_update([X])
    spans = [*zip(*find_spans([43], 16, stride), strict=True)]
    read, backprop_spans = twin.begin_update([X[s : s + 16] for s, *_ in spans])
    kept = [part[a:b] for part, (*_, a, b) in zip(read, spans, strict=True)]
    np.testing.assert_allclose(np.concatenate(kept), Y, atol=1e-5)
    d_read, dX = [np.zeros_like(part) for part in read], np.zeros_like(X)
    for d_part, part, (*_, a, b) in zip(d_read, read, spans, strict=True):
        d_part[a:b] = part[a:b]
    for d_part, (s, *_) in zip(backprop_spans(d_read), spans, strict=True):
        dX[s : s + 16] += d_part
    found, expected = [*backprop([Y]), *get_gradients(model)], [dX]
    expected += get_gradients(twin)
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("place", ["input", "attention_1_out", "feedforward_1_out"])
def test_numbers_are_dropped_at_three_places(norm, place):
    """All else is zero, so that ones stay where nothing is dropped."""
    rates = {"dropout": 0.25, "attention_dropout": 0.0}
    model = build(norm=norm, depth=1, width=64, num_heads=1, **rates)
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
    fix_random_seed(0)
    sizes = {"width": 64, "hidden_width": 256, "num_heads": 4, "max_length": 512}
    model = make_layer(norm=norm, **sizes).initialize()
    for name in model.param_names:
        values, kind = model.get_param(name), name[0]
        assert values.dtype == "float32"
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


def choose_span(spans, token) -> int:
    """The span in which a token is furthest away from the nearest end."""
    distances = [min(token - start, end - 1 - token) for start, end in spans]
    return distances.index(max(distances))


@given(st.lists(st.integers(0, 40), max_size=5), st.integers(1, 8), st.data())
def test_each_token_has_the_span_with_most_around_it(lengths, max_length, data):
    stride = data.draw(st.integers(1, max_length))
    expected, offset = [], 0
    for length in lengths:
        starts = [*range(0, length - max_length, stride), max(length - max_length, 0)]
        found = [(start, min(start + max_length, length)) for start in starts]
        chosen = [choose_span(found, token) for token in range(length)]
        for number, (start, end) in enumerate(found if length else []):
            kept = [token - start for token in range(length) if chosen[token] == number]
            assert kept == list(range(kept[0], kept[-1] + 1))
            expected.append((offset + start, end - start, kept[0], kept[-1] + 1))
        offset += length
    spans = [column.tolist() for column in find_spans(lengths, max_length, stride)]
    assert list(zip(*spans, strict=True)) == expected
