from collections.abc import Callable
from typing import Any

from thinc.api import Model, Ops
from thinc.initializers import uniform_init
from thinc.types import Floats2d

from .checks import check_params
from .params import check_once, inc_grad, peek
from .table import apply_dropout

InT = Floats2d
OutT = Floats2d

# What the authors' code divides by at least.
_SMALLEST_NORM = 1e-8


def ProjCompressor() -> Model[InT, OutT]:
    """Give the correlation of a code with learned axes, one for each dimension.

    `128 * width` parameters for codes of 128 bits: the fewest, and the paper's best.

    `Y[j] = ⟨bits - mean, Wⱼ - mean⟩ / (‖bits - mean‖ ‖Wⱼ - mean‖)` (Pearson), between
    -1 and 1. A code of equal bits correlates with nothing, and is zeros. Axes begin
    uniform in ±0.1. The longer one is, the less a step of training turns it.

    *Input shape:* `(n, nI)`, float32, each 0 or 1. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras, "HashFormers" (2022), §3.4, equation 3, where `wʲ ∈ Rᵈ`, j
    to T, should read T numbers each, j to d.
    """
    return Model(
        "projcompressor",
        forward,
        init=init,
        params={"W": None},
        dims={"nO": None, "nI": None},
        attrs={"dropout_rate": 0.0},
    )


def forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    ops: Any = model.ops
    codes, _ = _standardize(ops, bits)
    axes, norms = _standardize(ops, peek(model, "W"))
    Y, backprop_dropout = apply_dropout(model, codes @ axes.T, is_train)

    def backprop(dY: OutT) -> InT:
        d_axes = backprop_dropout(dY).T @ codes
        # only what turns an axis; codes being centred, this is too
        along = (d_axes * axes).sum(axis=1, keepdims=True)
        inc_grad(model, "W", (d_axes - along * axes) / norms)
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    model.set_param("W", uniform_init(model.ops, _get_shape(model)))


def _standardize(ops: Ops, X: Any) -> tuple[Any, Any]:
    """Centre rows, and bring them to length 1; give their lengths too, `(n, 1)`."""
    centred = X - X.mean(axis=1, keepdims=True)
    norms = ops.xp.sqrt((centred**2).sum(axis=1, keepdims=True))
    norms = ops.xp.maximum(norms, _SMALLEST_NORM)
    return centred / norms, norms


def _check_weights(model: Model) -> None:
    check_params(model, {"W": _get_shape(model)})


def _get_shape(model: Model) -> tuple[int, int]:
    return model.get_dim("nO"), model.get_dim("nI")
