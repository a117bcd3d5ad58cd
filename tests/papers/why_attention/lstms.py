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
