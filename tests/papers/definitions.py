"""Layers beside their definitions, written as in the papers, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model

from ..layers.differences import differentiate


def assert_is_defined_by(
    define: Callable[..., np.ndarray],
    model: Model,
    X: Any,
    *,
    is_train: bool = True,
    by_input: bool = False,
    **places: np.ndarray,
) -> None:
    """Compare the output of a layer, and the gradients of its parameters.

    define (Callable): Computes the output of the input and the parameters, by name.
    by_input (bool): Whether to compare the gradient of the input too.
    places (NDArray): Where the gradient of a parameter is not zero, if not everywhere.
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
