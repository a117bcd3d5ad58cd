"""The cross-entropy and its gradient, beside finite differences."""

import numpy as np
from thinc.api import NumpyOps

from spacy_hashembeds.layers.loss import get_cross_entropy

from .differences import differentiate

OPS = NumpyOps()
MISSING = -1
TRUTH = np.array([0, 4, MISSING, 2, 0])


def get_probs(scores: np.ndarray) -> np.ndarray:
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


def get_loss(scores: np.ndarray) -> float:
    return get_cross_entropy(OPS, get_probs(scores), TRUTH)[0]


def make_scores() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(5, 5))


def test_the_loss_is_the_cross_entropy():
    probs = get_probs(make_scores())
    chosen = [probs[i, tag] for i, tag in enumerate(TRUTH) if tag != MISSING]
    np.testing.assert_allclose(get_loss(make_scores()), -np.log(chosen).sum())


def test_the_gradient_is_that_of_finite_differences():
    scores = make_scores()
    gradient = differentiate(lambda: get_loss(scores), scores, step=1e-5)
    probs = get_probs(scores).astype("float32")
    given = probs.copy()
    _, found = get_cross_entropy(OPS, probs, TRUTH)
    np.testing.assert_array_equal(probs, given)  # left as they were
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, gradient, atol=1e-5)


def test_what_is_right_but_impossible_has_a_finite_loss():
    probs = np.array([[1, 0]], dtype="float32")
    loss, gradient = get_cross_entropy(OPS, probs, np.array([1]))
    assert 80 < loss < 90
    assert gradient.tolist() == [[1, -1]]
