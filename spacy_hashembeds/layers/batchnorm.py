from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model, get_width
from thinc.types import Floats2d

from .checks import LARGEST, REMEDY, check_param
from .params import check_once, peek

InT = Floats2d
OutT = Floats2d

#: How much of the running mean and variance each batch replaces.
MOMENTUM = 0.1

#: Added to the variance, so that nothing is divided by zero.
EPSILON = 1e-5


def BatchNorm(nO: int) -> Model[InT, OutT]:
    """Normalise each dimension over the batch, then scale and shift it.

    In training by the mean and the variance of the batch; in prediction, and for a
    batch of one, by running ones. They are parameters that no gradient reaches:
    optimizers leave them alone, and so does their averaging of weights.

    *Input and output shape:* `(n, nO)`, float32.

    Source: Ioffe and Szegedy, "Batch Normalization" (2015), algorithms 1 and 2. Numbers
    are those of PyTorch's `BatchNorm1d`, whose running variance is the unbiased one.
    """
    return Model(
        "batchnorm",
        forward,
        init=init,
        dims={"nO": nO, "nI": nO},
        params={"G": None, "b": None, "mean": None, "variance": None},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    n, is_batch = len(X), is_train and len(X) > 1
    if is_batch:
        mean, variance = cast(Any, X.mean(axis=0)), cast(Any, X.var(axis=0))
        _follow(model, "mean", mean)
        _follow(model, "variance", variance * (n / (n - 1)))
    else:
        mean, variance = model.get_param("mean"), model.get_param("variance")
    scale = (variance + EPSILON) ** -0.5
    X_hat = (X - mean) * scale
    G = model.get_param("G")

    def backprop(dY: OutT) -> InT:
        model.inc_grad("G", (dY * X_hat).sum(axis=0))
        model.inc_grad("b", dY.sum(axis=0))
        if not is_batch:
            return dY * (G * scale)
        dX_hat = dY * G
        from_mean = dX_hat.mean(axis=0)
        from_variance = (dX_hat * X_hat).mean(axis=0)
        return (dX_hat - from_mean - X_hat * from_variance) * scale

    return X_hat * G + model.get_param("b"), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nO", get_width(X))
    zeros = model.ops.alloc1f(model.get_dim("nO"))
    for name, value in (("G", 1), ("b", 0), ("mean", 0), ("variance", 1)):
        model.set_param(name, zeros + model.ops.xp.float32(value))


def _follow(model: Model, name: str, value: Any) -> None:
    running = model.get_param(name)
    model.set_param(name, running + MOMENTUM * (value - running))


def _check_weights(model: Model) -> None:
    shape = (model.get_dim("nO"),)
    for name in ("G", "b", "mean"):
        check_param(model, name, shape)
    check_param(model, "variance", shape, LARGEST**2)
    n_negative = int((peek(model, "variance") < 0).sum())
    if n_negative:
        raise ValueError(
            f"The parameter 'variance' of layer '{model.name}' should be 0 or "
            f"more, but {n_negative} of {model.get_dim('nO')} are less. {REMEDY}"
        )
