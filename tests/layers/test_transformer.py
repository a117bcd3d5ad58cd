"""Transformer layers, beside PyTorch's modules."""

import math

import numpy as np
import pytest
from thinc.api import fix_random_seed

from spacy_hashembeds.kernels.spans import find_spans
from spacy_hashembeds.layers import transformer
from spacy_hashembeds.layers.transformer import NORMS, find_shapes

from .lstms import concatenate, make_batch, run
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
    for lengths in (LENGTHS, [5], [4, 4]):
        Xs = make_docs(lengths)
        found, expected = run(model, Xs), run_twin(model, Xs)
        for array, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(array, other, rtol=1e-3, atol=1e-4)


def test_small_vectors_are_normalised_as_pytorch_does_it(norm):
    """What is added to variances is small beside those of even such vectors."""
    model = build(norm=norm)
    model.set_param("E_positions", 1e-5 * model.get_param("E_positions"))
    Xs = [1e-5 * X for X in make_docs([5, 3])]
    for array, other in zip(run(model, Xs)[:2], run_twin(model, Xs), strict=False):
        np.testing.assert_allclose(array, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("stride", [1, 3, 16])
def test_a_long_doc_is_read_in_spans(norm, stride):
    """Each as if it were a Doc; the gradients of what two of them read add up."""
    model, (X,) = build(norm=norm, stride=stride), make_docs([43])
    Y, *gradients = run(model, [X])
    spans = find_spans([43], 16, stride)
    parts = [X[start : start + 16] for start in spans.starts]
    read, backprop = model.begin_update(parts)
    kept = list(zip(spans.kept_from, spans.kept_to, strict=True))
    pairs = list(zip(read, kept, strict=True))
    found = np.concatenate([part[a:b] for part, (a, b) in pairs])
    np.testing.assert_allclose(found, Y, atol=1e-5)
    for name in model.grad_names:
        model.set_grad(name, np.zeros_like(model.get_grad(name)))
    d_read = [np.zeros_like(part) for part in read]
    for d_part, (part, (a, b)) in zip(d_read, pairs, strict=True):
        d_part[a:b] = np.cos(part[a:b])
    dX = np.zeros_like(X)
    for start, d_part in zip(spans.starts, backprop(d_read), strict=True):
        dX[start : start + 16] += d_part
    expected = [dX, *(model.get_grad(name) for name in model.param_names)]
    for array, other in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(array, other, rtol=1e-3, atol=1e-4)


def test_memory_is_bounded_and_nothing_else_changes(norm, monkeypatch):
    model, Xs = build(norm=norm), make_docs([9, 2, 0, 40, 5, 5])
    expected, shapes = run(model, Xs), []
    encode = transformer.Layers.encode

    def record(layers, X, is_token):
        shapes.append(tuple(X.shape[:2]))
        return encode(layers, X, is_token)

    monkeypatch.setattr(transformer.Layers, "encode", record)
    monkeypatch.setattr(transformer, "_MAX_ROWS", 20)
    actual = run(model, Xs)
    assert shapes == [(1, 16)] * 4 + [(2, 9), (2, 5)]
    np.testing.assert_allclose(
        concatenate(actual), concatenate(expected), rtol=1e-3, atol=1e-4
    )


def share_dropped(Y) -> float:
    """Of numbers that are all the same but for those that were dropped."""
    lowest = Y.min(axis=1, keepdims=True)
    return float((Y - lowest < 1e-3).mean())


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
    assert 0.15 < share_dropped(Y) < 0.35
    assert len({row.tobytes() for row in Y}) == 16  # each token for itself
    # and each once: what was there before the numbers were added is left
    assert {len(np.unique(row.round(3))) for row in Y} == {2}
    np.testing.assert_allclose(model.predict([X])[0], 0, atol=1e-3)


def test_attention_weights_are_dropped(norm):
    """Of values that are all ones: what is found is the sum of the weights."""
    rates = {"dropout": 0.0, "attention_dropout": 0.5}
    model, (X,) = build(norm=norm, depth=1, **rates), make_docs([6])
    W, b = (model.get_param(f"{kind}_attention_1_in") for kind in "Wb")
    W[16:], b[16:] = 0, 1
    (Y,), _ = model.begin_update([X])
    expected = model.predict([X])[0]
    assert abs(Y - expected).max() > 1e-2
    model.attrs["attention_dropout"] = 0.0
    (Y,), _ = model.begin_update([X])
    np.testing.assert_allclose(Y, expected, atol=1e-5)


def test_the_way_back_goes_through_what_was_not_dropped(norm):
    """By finite differences with the same random numbers in each pass."""
    rates = {"dropout": 0.3, "attention_dropout": 0.3}
    model, (X,) = build(norm=norm, depth=1, **rates), make_docs([5])

    def read(X):
        fix_random_seed(7)
        (Y,), backprop = model.begin_update([X])
        return Y, backprop

    Y, backprop = read(X)
    weights = np.cos(Y)
    (dX,) = backprop([weights])
    direction = np.random.default_rng(2).normal(size=X.shape).astype("f")
    up, down = (read(X + sign * 1e-3 * direction)[0] for sign in (1, -1))
    numeric = ((up - down).astype("d") * weights).sum() / 2e-3
    np.testing.assert_allclose((dX * direction).sum(), numeric, rtol=2e-2)


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


def test_the_base_size_has_as_many_parameters_as_bert(norm):
    dims = {"nO": 768, "depth": 12, "hidden_width": 3072, "max_length": 512}
    shapes = find_shapes(norm, dims)
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    positions = sizes.pop("E_positions")
    norms = sum(sizes.pop(f"{kind}_{NORMS[norm]}") for kind in "Gb")
    assert (sum(sizes.values()), positions, norms) == (85_054_464, 393_216, 1_536)
    model = build(norm=norm)
    dims = {name: model.get_dim(name) for name in model.dim_names}
    assert {name: model.get_param(name).shape for name in model.param_names} == (
        find_shapes(norm, dims)
    )


def test_embeddings_of_another_width_are_refused():
    Xs = make_batch([3], width=5)
    message = r"'width' of the Transformer is 8, but that of the embeddings is 5\."
    with pytest.raises(ValueError, match=message):
        make_layer().initialize(X=Xs)
    with pytest.raises(ValueError, match=message):
        build().predict(Xs)
    with pytest.raises(ValueError, match=r"is 8, .* is 1\."):  # no broadcasting
        build().predict(make_batch([3], width=1))


@pytest.mark.parametrize(
    ("attr", "value", "message"),
    [
        # as of weights of the other kind
        ("norm", "pre", r"parameters that are not .*: G_input_norm, b_input_norm\."),
        ("stride", 17, r"'stride' of layer .* should be 1 to 16, but is 17"),
    ],
)
def test_damaged_attributes_are_refused(attr, value, message):
    model = build()
    model.attrs[attr] = value
    with pytest.raises(ValueError, match=message):
        model.predict(make_docs())


@pytest.mark.parametrize(
    ("dim", "value"),
    [("depth", 1), ("num_heads", 4), ("hidden_width", 16), ("max_length", 32)],
)
def test_weights_of_another_size_are_refused(dim, value):
    """Heads of another number would not show in any weights."""
    data = build(**{dim: value}).to_bytes()
    with pytest.raises(ValueError, match=rf"'{dim}' for model 'transformer'.*{value}"):
        make_layer().from_bytes(data)
