from collections.abc import Callable
from typing import Any

import numpy
from thinc.api import Model
from thinc.initializers import uniform_init
from thinc.types import Floats2d

from .checks import check_integer, check_params
from .params import check_once, inc_grad, peek
from .table import apply_dropout, scatter_rows, table_gradient

InT = Floats2d
OutT = Floats2d

#: The most bits of a codeword: a codebook of a million vectors.
MAX_CODEWORD = 20


def PoolCompressor(num_bits: int = 10) -> Model[InT, OutT]:
    """Cut codes into codewords, and average their vectors by learned weights.

    `Y = Σⱼ softmax(W)ⱼ ⊙ E[cⱼ]`, where the weights of each dimension sum to 1 over the
    codewords, and begin as an average. Those are `num_bits` successive bits each (see
    `compressors.py`), and share one codebook, `E`, uniform in ±0.1; a last
    one of fewer bits is the number that these are.

    *Input shape:* `(n, nI)`, float32, each 0 or 1. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras, "HashFormers" (2022), §3.4, equation 1.
    """
    return Model(
        "poolcompressor",
        forward,
        init=init,
        params={"E": None, "W": None},
        dims={"nO": None, "nI": None},
        attrs={"num_bits": num_bits, "dropout_rate": 0.0},
    )


def forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    ops: Any = model.ops
    E: Any = peek(model, "E")
    weights = ops.softmax(peek(model, "W"), axis=0)
    codewords = find_codewords(ops, bits, model.attrs["num_bits"])
    Y = ops.alloc2f(len(bits), E.shape[1])
    for rows, weight in zip(codewords, weights, strict=True):
        Y += E[rows] * weight
    Y, backprop_dropout = apply_dropout(model, Y, is_train)

    def backprop(dY: OutT) -> InT:
        dY = ops.as_contig(backprop_dropout(dY), dtype="float32")
        E: Any = peek(model, "E")
        d_weights = ops.alloc2f(*weights.shape)
        with table_gradient(model, "E") as dE:
            for j, rows in enumerate(codewords):
                d_weights[j] = (E[rows] * dY).sum(axis=0)
                scatter_rows(ops, rows.reshape(-1, 1), dY * weights[j], dE)
        inc_grad(model, "W", weights * (d_weights - (weights * d_weights).sum(axis=0)))
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    shapes = _get_shapes(model)
    model.set_param("E", uniform_init(model.ops, shapes["E"]))
    model.set_param("W", model.ops.alloc2f(*shapes["W"]))


def find_codewords(ops: Any, bits: Any, num_bits: int) -> Any:
    """Find the codewords of codes. *Shape:* `(n, nI)` to `(codewords, n)`, int32.

    Bits are float32, each 0 or 1; the first is the highest.
    """
    nI = bits.shape[1]
    worth = numpy.zeros((nI, -(-nI // num_bits)), dtype="float32")
    for j in range(worth.shape[1]):
        word = worth[j * num_bits : (j + 1) * num_bits, j]
        word[:] = 2.0 ** numpy.arange(len(word))[::-1]
    # sums of powers of 2 up to 2²⁰ are exact
    return ops.as_contig((bits @ ops.asarray(worth)).T, dtype="int32")


def _check_weights(model: Model) -> None:
    check_integer(model, "num_bits", 1, MAX_CODEWORD)
    check_params(model, _get_shapes(model))


def _get_shapes(model: Model) -> dict[str, tuple[int, int]]:
    num_bits, nO = model.attrs["num_bits"], model.get_dim("nO")
    n_codewords = -(-model.get_dim("nI") // num_bits)
    return {"E": (2**num_bits, nO), "W": (n_codewords, nO)}
