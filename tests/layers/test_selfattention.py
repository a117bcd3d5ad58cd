"""Self-attention beside its formula, and by finite differences."""

import numpy as np
import pytest
from thinc.api import fix_random_seed

from spacy_hashembeds.layers import selfattention
from spacy_hashembeds.layers.selfattention import SelfAttention, find_weights

from .lstms import assert_gradients_are_right, concatenate, make_batch, run

pytestmark = pytest.mark.torch

LENGTHS = [3, 0, 7, 1, 7]


def build(nI=6, num_heads=3, seed=0):
    fix_random_seed(seed)
    model = SelfAttention(num_heads=num_heads)
    return model.initialize(X=make_batch(LENGTHS, width=nI))


def softmax(X):
    E = np.exp(X - X.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def attend(model, H) -> tuple[np.ndarray, np.ndarray]:
    """What the paper writes (§3.6): weights of all heads, and H with the findings."""
    m = model.attrs["num_heads"]
    d_c = H.shape[1] // m
    alphas, contexts = [], []
    for i in range(m):
        part = slice(i * d_c, (i + 1) * d_c)
        W_q, W_k, W_v = (model.get_param(n)[:, part] for n in ("query", "key", "value"))
        alpha = softmax((H @ W_q) @ (H @ W_k).T / np.sqrt(d_c))
        alphas.append(alpha)
        contexts.append(alpha @ H @ W_v)
    return np.array(alphas), np.hstack([H, *contexts])


@pytest.mark.parametrize("num_heads", [1, 3])
def test_it_is_the_formula_of_the_paper(num_heads):
    model, Xs = build(num_heads=num_heads), make_batch(LENGTHS, width=6)
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        assert Y.shape == (len(X), 12)
        if len(X):
            alphas, expected = attend(model, X)
            np.testing.assert_allclose(Y, expected, atol=1e-6)
            weights = find_weights(model, X)
            np.testing.assert_allclose(weights, alphas, atol=1e-6)


def test_gradients_equal_finite_differences():
    assert_gradients_are_right(build(), make_batch([3, 0, 2, 1], width=6))


def test_memory_is_bounded_and_nothing_else_changes(monkeypatch):
    model, Xs = build(), make_batch([9, 2, 0, 30, 5, 5, 5, 5], width=6)
    expected = run(model, Xs)
    sizes = []
    group_docs = selfattention.group_docs

    def group(*args):
        for block in group_docs(*args):
            sizes.append(tuple(block.rows.shape))
            yield block

    monkeypatch.setattr(selfattention, "group_docs", group)
    monkeypatch.setattr(selfattention, "_MAX_WEIGHTS", 3 * 9**2)
    actual = run(model, Xs)
    assert sizes == [(1, 30), (1, 9), (3, 5), (2, 5)]
    np.testing.assert_allclose(concatenate(actual), concatenate(expected), atol=1e-5)


def test_weights_begin_as_is_said():
    model = build(nI=60, num_heads=5)
    drawn = [model.get_param(name) for name in selfattention.NAMES]
    bound = (6 / (60 + 12)) ** 0.5
    for W in drawn:
        assert W.dtype == "float32"
        assert 0.95 * bound < abs(W).max() <= bound
    assert len({W.tobytes() for W in drawn}) == 3


def test_another_number_of_heads_is_refused():
    model, Xs = build(), make_batch(LENGTHS, width=6)
    model.attrs["num_heads"] = 4
    with pytest.raises(ValueError, match=r"'num_heads'.*divisor of its width, 6, .* 4"):
        model.predict(Xs)
