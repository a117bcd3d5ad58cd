"""Batch normalisation, beside its formula, and by finite differences."""

import numpy as np
import pytest
from thinc.api import Adam, Model

from spacy_hashembeds.layers.batchnorm import BatchNorm

from .differences import differentiate

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
    expected = [
        differentiate(lambda: loss(*arguments), argument, step=1e-6)
        for argument in arguments
    ]
    Y, backprop = model(X.astype("f"), is_train)
    np.testing.assert_allclose((Y * dY).sum(), loss(*arguments), rtol=1e-3)
    given = dY.astype("f")
    actual = [backprop(given), model.get_grad("G"), model.get_grad("b")]
    np.testing.assert_array_equal(given, dY.astype("f"))  # left as it was
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


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


def test_negative_variances_are_refused():
    model = build()
    model.set_param("variance", np.array([1, -1, -2], dtype="f"))
    with pytest.raises(ValueError, match=r"'variance'.*or more, but 2 of 3 are less"):
        model.predict(make_batch())
