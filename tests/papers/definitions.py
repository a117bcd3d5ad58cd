"""Comparison of layers with their definitions in the papers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from thinc.api import Model, fix_random_seed, set_dropout_rate

from ..layers.differences import differentiate
from ..toy_embedders import get_gradients


def randomize(model: Model) -> Model:
    state = np.random.default_rng(1)
    for name in model.param_names:
        drawn = state.normal(size=model.get_param(name).shape)
        model.set_param(name, drawn.astype("f"))
    return model


def assert_is_defined_by(
    define: Callable[..., np.ndarray],
    model: Model,
    X: Any,
    *,
    is_train: bool = True,
    by_input: bool = False,
    **places: np.ndarray,
) -> None:
    """Compare the output of a layer, and the gradients of its parameters, in float64.

    define (Callable): Computes the output from the input and the parameters by name.
    by_input (bool): Compare the gradient of the input too.
    places (NDArray): Mask of a parameter's non-zero gradients. Default: everywhere.
    """
    params = {n: model.get_param(n).astype("float64") for n in model.param_names}
    Y, backprop = model(X, is_train)
    expected = define(X, **params)
    assert (Y.shape, Y.dtype) == (expected.shape, "float32")
    np.testing.assert_allclose(Y, expected, rtol=1e-5, atol=1e-5)
    dY = np.cos(np.arange(Y.size, dtype="f")).reshape(Y.shape)
    dX = backprop(dY)
    gradients = {name: model.get_grad(name) for name in model.grad_names}
    values = dict(params)
    if by_input:
        gradients["X"], values["X"] = dX, X.astype("float64")

    def get_loss() -> float:
        return float((define(values.get("X", X), **params) * dY).sum())

    for name, array in values.items():
        where = places.get(name)
        expected = differentiate(get_loss, array, step=1e-6, places=where)
        found = gradients.get(name, np.zeros_like(array))
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def list_ngrams(word: Sequence, ngram_size: int) -> list:
    """List the n-grams of a sequence, by start and length."""
    return [
        word[start : start + size]
        for start in range(len(word))
        for size in range(1, min(ngram_size, len(word) - start) + 1)
    ]


# Encoders of sequences


def make_batch(
    lengths: Sequence[int], width: int = 5, seed: int = 0
) -> list[np.ndarray]:
    state = np.random.default_rng(seed)
    return [state.normal(size=(n, width)).astype("f") for n in lengths]


def run(
    model: Model, Xs: list[np.ndarray], *, drop: float = 0.0, dtype: str = "f"
) -> list[np.ndarray]:
    """Run one training step, and return outputs and all gradients."""
    set_dropout_rate(model, drop)
    for gradient in get_gradients(model):
        gradient[...] = 0
    fix_random_seed(1)
    Ys, backprop = model.begin_update([X.copy() for X in Xs])
    dXs = backprop([np.cos(Y).astype(dtype) for Y in Ys])
    return [*Ys, *dXs, *get_gradients(model)]
