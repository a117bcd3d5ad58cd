"""Members that vote are trained as if each were alone."""

import numpy as np
import pytest
from thinc.api import Adam, Linear, Logistic, Model, Softmax, chain, fix_random_seed

from spacy_hashembeds.architectures.classifiers.text_cat_voting_ensemble import (
    soft_voting,
)


def build_softmax() -> Model:
    return Softmax(3, 4)


def build_logistic() -> Model:
    return chain(Linear(3, 4), Logistic())


def make_members(build, n=3) -> list[Model]:
    fix_random_seed(0)
    X, Y = make_data()
    members = [build().initialize(X, Y) for _ in range(n)]
    for member in members:
        for node in member.walk():
            if node.has_param("W"):
                shape = node.get_param("W").shape
                node.set_param("W", np.random.normal(size=shape).astype("f"))
    return members


def make_data() -> tuple[np.ndarray, np.ndarray]:
    state = np.random.default_rng(0)
    X = state.normal(size=(6, 4)).astype("f")
    return X, np.eye(3, dtype="f")[state.integers(0, 3, 6)]


def get_weights(model: Model) -> list[np.ndarray]:
    nodes = model.walk()
    return [n.get_param(name).copy() for n in nodes for name in n.param_names]


def train(model: Model, X, truth, is_there, steps=5) -> None:
    optimizer = Adam(0.1, L2=0, grad_clip=0)
    for _ in range(steps):
        scores, backprop = model.begin_update(X)
        backprop((scores - truth) * is_there)
        model.finish_update(optimizer)


def test_the_score_is_the_mean():
    members = make_members(build_softmax)
    X, _ = make_data()
    model = soft_voting(*members)
    expected = np.mean([member.predict(X) for member in members], axis=0)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-5)
    assert model.predict(X[:0]).shape == (0, 3)


@pytest.mark.parametrize("build", [build_softmax, build_logistic])
def test_members_learn_as_if_they_were_alone(build):
    X, truth = make_data()
    is_there = np.ones_like(truth)
    is_there[[0, 2, 2], [1, 0, 1]] = 0  # labels that are missing
    alone, together = make_members(build), make_members(build)
    for member in alone:
        train(member, X, truth, is_there)
    train(soft_voting(*together), X, truth, is_there)
    for one, other in zip(alone, together, strict=True):
        for expected, weights in zip(get_weights(one), get_weights(other), strict=True):
            np.testing.assert_allclose(weights, expected, atol=1e-3)
