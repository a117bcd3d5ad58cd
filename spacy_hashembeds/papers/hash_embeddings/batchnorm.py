from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model
from thinc.types import Floats2d

from ...layers.checks import LARGEST, check_once, check_param

InT = Floats2d
OutT = Floats2d

#: Weight of each batch in the running mean and variance.
MOMENTUM = 0.1
#: Added to the variance, against division by zero.
EPSILON = 1e-5


def BatchNorm(nO: int) -> Model[InT, OutT]:
    """Normalize each dimension over the batch, like PyTorch's `BatchNorm1d`.

    Prediction and batches of one row use the running mean and variance, which are
    parameters without gradients.

    *Input and output shape:* `(n, nO)`, float32.
    Source: Ioffe and Szegedy, "Batch Normalization" (2015).
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
    mean: Any = model.get_param("mean")
    variance: Any = model.get_param("variance")
    if is_batch:
        running = mean, variance
        mean, variance = cast(Any, X.mean(axis=0)), cast(Any, X.var(axis=0))
        found = mean, variance * (n / (n - 1))
        for name, old, new in zip(("mean", "variance"), running, found, strict=True):
            model.set_param(name, old + MOMENTUM * (new - old))
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
    zeros = model.ops.alloc1f(model.get_dim("nO"))
    for name, value in (("G", 1), ("b", 0), ("mean", 0), ("variance", 1)):
        model.set_param(name, zeros + model.ops.xp.float32(value))


def _check_weights(model: Model) -> None:
    for name in ("G", "b", "mean", "variance"):
        largest = LARGEST**2 if name == "variance" else LARGEST
        check_param(model, name, (model.get_dim("nO"),), largest)
