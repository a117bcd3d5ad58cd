"""Batch normalisation, beside PyTorch where it is there, and by finite differences."""

import numpy as np
import pytest
from thinc.api import Adam, Model

from spacy_hashembeds.layers.batchnorm import BatchNorm

NAMES = ("G", "b", "mean", "variance")


def make_batch(n=7, seed=0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, 3)) * [1, 20, 0.1] + [0, 5, -1]
    return X.astype("f")


def build(seed=0) -> Model:
    """A layer that has been trained a little."""
    model = BatchNorm(3).initialize()
    state = np.random.default_rng(seed)
    for name in ("G", "b"):
        model.set_param(name, state.normal(size=3).astype("f"))
    for i in range(3):
        model.begin_update(make_batch(seed=i))
    return model


@pytest.mark.torch
def test_it_is_pytorch_s():
    import torch

    ours, theirs = build(), torch.nn.BatchNorm1d(3)
    names = {
        "weight": "G",
        "bias": "b",
        "running_mean": "mean",
        "running_var": NAMES[3],
    }
    theirs.load_state_dict(
        {key: torch.tensor(ours.get_param(name)) for key, name in names.items()},
        strict=False,
    )
    X, dY = make_batch(seed=9), make_batch(seed=10)
    for is_train in (True, False):
        inputs = torch.tensor(X, requires_grad=True)
        theirs.train(is_train)
        theirs.zero_grad()
        expected = theirs(inputs)
        expected.backward(torch.tensor(dY))
        for name in ("G", "b"):
            ours.set_grad(name, np.zeros(3, dtype="f"))
        Y, backprop = ours(X, is_train)
        np.testing.assert_allclose(Y, expected.detach().numpy(), rtol=1e-4, atol=1e-4)
        dX = backprop(dY)
        np.testing.assert_allclose(dX, inputs.grad.numpy(), rtol=1e-3, atol=1e-3)
        for key, name in list(names.items())[:2]:
            grad = getattr(theirs, key).grad.numpy()
            np.testing.assert_allclose(ours.get_grad(name), grad, rtol=1e-3, atol=1e-3)
        for key, name in names.items():
            actual = theirs.state_dict()[key].numpy()
            np.testing.assert_allclose(ours.get_param(name), actual, rtol=1e-5)


@pytest.mark.parametrize("is_train", [True, False])
def test_gradients_equal_finite_differences(is_train):
    model, X = build(), make_batch(5).astype("float64")
    dY = np.random.default_rng(1).normal(size=X.shape)

    def loss(X, G, b):
        mean, variance = model.get_param("mean"), model.get_param("variance")
        if is_train:
            mean, variance = X.mean(axis=0), X.var(axis=0)
        return (((X - mean) / np.sqrt(variance + 1e-5) * G + b) * dY).sum()

    arguments = [X, *(model.get_param(name).astype("float64") for name in ("G", "b"))]
    expected = [numeric_gradient(loss, arguments, i) for i in range(3)]
    _Y, backprop = model(X.astype("f"), is_train)
    given = dY.astype("f")
    actual = [backprop(given), model.get_grad("G"), model.get_grad("b")]
    np.testing.assert_array_equal(given, dY.astype("f"))  # left as it was
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def numeric_gradient(loss, arguments, which, step=1e-6):
    gradient = np.zeros_like(arguments[which])
    for index in np.ndindex(*gradient.shape):
        values = []
        for sign in (1, -1):
            changed = [argument.copy() for argument in arguments]
            changed[which][index] += sign * step
            values.append(loss(*changed))
        gradient[index] = (values[0] - values[1]) / (2 * step)
    return gradient


def test_an_input_of_another_width_is_refused():
    with pytest.raises(ValueError, match="'nO' for model 'batchnorm' from 4 to 3"):
        BatchNorm(4).initialize(X=make_batch())


def test_the_running_variance_is_the_unbiased_one():
    """Of which a batch replaces a tenth."""
    model = BatchNorm(3).initialize()
    model.begin_update(np.array([[1, 0, 5], [3, 0, 9]], dtype="f"))
    np.testing.assert_allclose(model.get_param("mean"), [0.2, 0, 0.7])
    np.testing.assert_allclose(model.get_param("variance"), [1.1, 0.9, 1.7])


def test_large_inputs_have_large_variances():
    model, X = BatchNorm(3).initialize(), 5000 * make_batch()
    for _ in range(9):
        model.begin_update(X)
    assert np.isfinite(model.predict(X)).all()


def test_a_batch_is_normalised_and_prediction_goes_by_what_was_seen():
    model = BatchNorm(3).initialize(X=make_batch())
    for i in range(200):
        Y, _ = model.begin_update(make_batch(500, seed=i))
        np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-3)
        np.testing.assert_allclose(Y.var(axis=0), 1, atol=1e-2)
    np.testing.assert_allclose(model.get_param("mean"), [0, 5, -1], atol=0.5)
    np.testing.assert_allclose(model.get_param("variance"), [1, 400, 0.01], rtol=0.1)
    first = make_batch(1)
    whole = model.predict(make_batch(7))
    np.testing.assert_allclose(model.predict(first), whole[:1], rtol=1e-5)


@pytest.mark.parametrize("n", [0, 1])
def test_batches_without_a_variance(n):
    """They are normalised as in prediction, and nothing follows them."""
    model, X = build(), make_batch(n)
    before = [model.get_param(name).copy() for name in NAMES]
    Y, backprop = model.begin_update(X)
    np.testing.assert_array_equal(Y, model.predict(X))
    assert np.isfinite(backprop(np.ones_like(Y))).all()
    for name, array in zip(NAMES, before, strict=True):
        np.testing.assert_array_equal(model.get_param(name), array)
    np.testing.assert_array_equal(model.get_grad("b"), [n] * 3)


def test_optimizers_and_averages_leave_the_running_statistics_alone():
    model, optimizer = build(), Adam(0.1, use_averages=True)
    for i in range(3):
        Y, backprop = model.begin_update(make_batch(seed=i))
        backprop(np.ones_like(Y))
        statistics = [model.get_param(name).copy() for name in NAMES[2:]]
        model.finish_update(optimizer)
        for name, array in zip(NAMES[2:], statistics, strict=True):
            np.testing.assert_array_equal(model.get_param(name), array)
    trained = {name: model.get_param(name).copy() for name in NAMES}
    with model.use_params(optimizer.averages):
        assert (model.get_param("b") != trained["b"]).all()
        for name in NAMES[2:]:
            np.testing.assert_array_equal(model.get_param(name), trained[name])
    loaded = BatchNorm(3).from_bytes(model.to_bytes())
    X = make_batch(seed=11)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("is_train", [True, False])
def test_negative_variances_are_refused(is_train):
    model = build()
    model.set_param("variance", np.array([1, -1, -2], dtype="f"))
    with pytest.raises(ValueError, match=r"'variance'.*or more, but 2 of 3 are less"):
        model(make_batch(), is_train)
