from collections.abc import Callable
from typing import Any

from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d

from .checks import check_params
from .params import check_once, inc_grad, peek
from .table import apply_dropout

InT = Floats2d
OutT = Floats2d


def AddCompressor() -> Model[InT, OutT]:
    """Add up a vector for each bit, one of two.

    `2 * 128 * width` parameters for codes of 128 bits.

    `Y = Σⱼ E[j, bitⱼ] / √nI`, where parameters begin uniform in ±0.1.

    *Input shape:* `(n, nI)`, float32, each 0 or 1. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras, "HashFormers" (2022), §3.4, equation 2.
    """
    return Model(
        "addcompressor",
        forward,
        init=init,
        params={"E": None},
        dims={"nO": None, "nI": None},
        attrs={"dropout_rate": 0.0},
    )


def forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    ops: Any = model.ops
    E: Any = peek(model, "E")
    scale = 1 / float(E.shape[0]) ** 0.5
    # those for 0, and for each bit that is 1 what the other has more
    Y = bits @ (E[:, 1] - E[:, 0]) + E[:, 0].sum(axis=0)
    Y *= scale
    Y, backprop_dropout = apply_dropout(model, Y, is_train)

    def backprop(dY: OutT) -> InT:
        dY = backprop_dropout(dY) * scale
        ones = bits.T @ dY
        inc_grad(model, "E", ops.xp.stack([dY.sum(axis=0) - ones, ones], axis=1))
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    model.set_param("E", uniform_init(model.ops, _get_shape(model)))


def _check_weights(model: Model) -> None:
    check_params(model, {"E": _get_shape(model)})


def _get_shape(model: Model) -> tuple[int, int, int]:
    return model.get_dim("nI"), 2, model.get_dim("nO")
