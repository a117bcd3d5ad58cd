"""What the tests of recurrent layers and of attention have in common."""

import numpy as np


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
    given = [w.astype("f") for w in weights]
    dXs = backprop(given)
    for dY, w in zip(given, weights, strict=True):
        np.testing.assert_array_equal(dY, w.astype("f"))  # left as it was
    pairs = list(zip(Xs, dXs, strict=True))
    pairs += [(model.get_param(n), model.get_grad(n)) for n in model.param_names]
    state, step = np.random.default_rng(1), 1e-2
    for values, gradient in pairs:
        assert gradient.shape == values.shape
        for i in state.choice(values.size, min(12, values.size), replace=False):
            index, losses = np.unravel_index(i, values.shape), []
            original = values[index]
            for sign in (1, -1):
                values[index] = original + sign * step
                losses.append(loss())
            values[index] = original
            numeric = (losses[0] - losses[1]) / (2 * step)
            np.testing.assert_allclose(gradient[index], numeric, rtol=2e-2, atol=2e-3)
