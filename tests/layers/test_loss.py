"""The cross-entropy, and its gradient against finite differences."""

import numpy as np
from thinc.api import NumpyOps

from spacy_hashembeds.layers.loss import get_cross_entropy

from .differences import differentiate

OPS = NumpyOps()
TRUTH = np.array([0, 4, -1, 2, 0])


def get_probs(scores: np.ndarray) -> np.ndarray:
    exps = np.exp(scores)
    return exps / exps.sum(axis=1, keepdims=True)


def get_loss(scores: np.ndarray) -> float:
    return -sum(np.log(get_probs(scores)[i, TRUTH[i]]) for i in (0, 1, 3, 4))


def test_loss_and_gradient():
    scores = np.random.default_rng(0).normal(size=(5, 5))
    probs = get_probs(scores).astype("float32")
    given = probs.copy()
    loss, gradient = get_cross_entropy(OPS, probs, TRUTH)
    np.testing.assert_array_equal(probs, given)  # unchanged
    np.testing.assert_allclose(loss, get_loss(scores), rtol=1e-6)
    expected = differentiate(lambda: get_loss(scores), scores, step=1e-5)
    assert gradient.dtype == "float32"
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_zero_probability_has_a_finite_loss():
    probs = np.array([[1, 0]], dtype="float32")
    loss, gradient = get_cross_entropy(OPS, probs, np.array([1]))
    assert 80 < loss < 90
    assert gradient.tolist() == [[1, -1]]
