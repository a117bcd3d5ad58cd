"""Batch normalisation, beside its formula, and by finite differences."""

import numpy as np
import pytest
from thinc.api import Model

from spacy_hashembeds.papers.hash_embeddings.batchnorm import BatchNorm

from ..definitions import assert_is_defined_by


def make_batch(n=7) -> np.ndarray:
    X = np.random.default_rng(n).normal(size=(n, 3)) * [1, 20, 0.1] + [0, 5, -1]
    return X.astype("f")


def build() -> Model:
    """A layer that has been trained a little."""
    model = BatchNorm(3).initialize()
    for name, value in zip("Gb", make_batch(2), strict=True):
        model.set_param(name, value)
        model.begin_update(make_batch())
    return model


def get_statistics(model: Model) -> list[np.ndarray]:
    return [model.get_param(name).copy() for name in ("mean", "variance")]


@pytest.mark.parametrize("is_train", [True, False])
def test_it_and_its_gradients_are_its_formula(is_train):
    model = build()
    running = get_statistics(model)

    def define(X, G, b, **statistics):
        mean, variance = (X.mean(axis=0), X.var(axis=0)) if is_train else running
        return (X - mean) / np.sqrt(variance + 1e-5) * G + b

    X = make_batch(5)
    assert_is_defined_by(define, model, X, is_train=is_train, by_input=True)


def test_the_running_variance_is_the_unbiased_one():
    """Of which a batch replaces a tenth."""
    model = BatchNorm(3).initialize()
    model.begin_update(np.array([[1, 0, 5], [3, 0, 9]], dtype="f"))
    mean, variance = get_statistics(model)
    np.testing.assert_allclose(mean, [0.2, 0, 0.7])
    np.testing.assert_allclose(variance, [1.1, 0.9, 1.7])


@pytest.mark.parametrize("n", [0, 1])
def test_batches_without_a_variance_are_normalised_as_in_prediction(n):
    model, X = build(), make_batch(n)
    before = get_statistics(model)
    Y, backprop = model.begin_update(X)
    np.testing.assert_array_equal(Y, model.predict(X))
    assert np.isfinite(backprop(np.ones_like(Y))).all()
    np.testing.assert_array_equal(get_statistics(model), before)
    np.testing.assert_array_equal(model.get_grad("b"), [n] * 3)


def test_negative_variances_are_refused():
    model = build()
    model.set_param("variance", np.array([1, -1, -2], dtype="f"))
    with pytest.raises(ValueError, match="'variance'"):
        model.predict(make_batch())
