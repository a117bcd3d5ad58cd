"""What the tests of recurrent layers and of attention have in common."""

import numpy as np

from .differences import differentiate


def make_batch(lengths, width=5, seed=0) -> list[np.ndarray]:
    state = np.random.default_rng(seed)
    return [state.normal(size=(n, width)).astype("f") for n in lengths]


def concatenate(arrays) -> np.ndarray:
    return np.concatenate([np.ravel(array) for array in arrays])


def run(model, Xs) -> list[np.ndarray]:
    """One step of training: the outputs, and all gradients."""
    for name in model.grad_names:
        model.set_grad(name, np.zeros_like(model.get_grad(name)))
    Ys, backprop = model.begin_update(Xs)
    dXs = backprop([np.cos(Y) for Y in Ys])
    return [*Ys, *dXs, *(model.get_grad(name) for name in model.param_names)]


def assert_gradients_are_right(model, Xs) -> None:
    """By finite differences, of some numbers of the input and of each parameter."""
    weights = [np.cos(Y) for Y in model.predict(Xs)]

    def loss() -> float:
        Ys = model.predict(Xs)
        return sum(
            float((Y.astype("d") * w).sum()) for Y, w in zip(Ys, weights, strict=True)
        )

    _Ys, backprop = model.begin_update(Xs)
    dXs = backprop([w.astype("f") for w in weights])
    pairs = list(zip(Xs, dXs, strict=True))
    pairs += [(model.get_param(n), model.get_grad(n)) for n in model.param_names]
    state = np.random.default_rng(1)
    for values, gradient in pairs:
        chosen = np.arange(values.size) < 12
        places = state.permutation(chosen).reshape(values.shape)
        numeric = differentiate(loss, values, step=1e-2, places=places)
        np.testing.assert_allclose(gradient * places, numeric, rtol=2e-2, atol=2e-3)
