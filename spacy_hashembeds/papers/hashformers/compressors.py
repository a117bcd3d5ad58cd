"""Compressors of `HashFormerEmbed`: vectors from the codes of `hashers.py`.

*Input shape*, except for `EmbCompressor`: `(n, nI)`, float32, each number 0 or 1.
*Output shape:* `(n, nO)`, float32.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from thinc.api import Model, Ops, uniform_init, zero_init
from thinc.types import Floats2d, Ints2d

from ...arguments import MAX_ROWS, check_integers
from ...layers import checks
from ...layers.checks import peek
from ...layers.tables import (
    add_row_gradients,
    apply_dropout,
    check_table,
    finish_forward,
)

InT = Floats2d
OutT = Floats2d

#: Maximum bits of a codeword: a codebook of a million vectors.
MAX_CODEWORD = 20
# Minimum divisor, as in the authors' code.
_SMALLEST_NORM = 1e-8


def EmbCompressor(*, rows: int) -> Model[Ints2d, OutT]:
    """Map each word to a row of a table `E`, which it shares with others.

    rows (int): The paper's N: 50,000, or 1,000 for about as many parameters as other
        compressors. With `LSHHasher` at most 2**20.

    *Input shape:* `(n, 1)`, unsigned integers.
    Source: Xue and Aletras, "HashFormers" (2022), §3.1 to §3.3.
    """
    check_integers(1, MAX_ROWS, rows=rows)
    return _build("embcompressor", emb_forward, "E", {"nV": rows})


def emb_forward(
    model: Model[Ints2d, OutT], rows: Ints2d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Any]]:
    checks.check_once(model, check_table)
    # integer indices: a copy, which callers may modify
    output: Any = peek(model, "E")[rows[:, 0]]
    return finish_forward(model, rows, output, is_train)


def PoolCompressor(*, num_bits: int = 10) -> Model[InT, OutT]:
    """Cut codes into codewords, and average their vectors with learned weights.

    `Y = Σⱼ softmax(W)ⱼ ⊙ E[cⱼ]`. The weights of each dimension sum to 1 over the
    codewords, and are initially equal. Codewords have `num_bits` consecutive bits, and
    share one codebook, `E`, initialized uniformly in ±0.1.

    num_bits (int): Bits of a codeword, the paper's k, 1 to 20. The paper uses 10, which
        gives 13 codewords. One more bit doubles the parameters.

    Source: Xue and Aletras (2022), §3.4, equation 1.
    """
    check_integers(1, MAX_CODEWORD, num_bits=num_bits)
    dims = {"nI": None}
    return _build("poolcompressor", pool_forward, "EW", dims, num_bits=num_bits)


def pool_forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    checks.check_once(model, _check_weights)
    ops: Any = model.ops
    E = peek(model, "E")
    weights = ops.softmax(peek(model, "W"), axis=0)
    codewords = find_codewords(ops, bits, model.attrs["num_bits"])
    Y = ops.alloc2f(len(bits), E.shape[1])
    for rows, weight in zip(codewords, weights, strict=True):
        Y += E[rows] * weight
    Y, backprop_dropout = apply_dropout(model, Y, is_train)

    def backprop(dY: OutT) -> InT:
        dY = ops.as_contig(backprop_dropout(dY), dtype="float32")
        E = peek(model, "E")
        d_weights = ops.alloc2f(*weights.shape)
        with checks.table_gradient(model, "E") as dE:
            for j, rows in enumerate(codewords):
                d_weights[j] = (E[rows] * dY).sum(axis=0)
                add_row_gradients(ops, rows.reshape(-1, 1), dY * weights[j], dE)
        model.inc_grad("W", weights * (d_weights - (weights * d_weights).sum(axis=0)))
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def find_codewords(ops: Any, bits: Any, num_bits: int) -> Any:
    """Split codes into codewords. *Shape:* `(n, nI)` to `(codewords, n)`, int32.

    The first bit is the most significant. The last codeword may have fewer bits.
    """
    nI = bits.shape[1]
    worth = np.zeros((nI, -(-nI // num_bits)), dtype="float32")
    for j in range(worth.shape[1]):
        word = worth[j * num_bits : (j + 1) * num_bits, j]
        word[:] = 2.0 ** np.arange(len(word))[::-1]
    # sums of powers of 2 up to 2²⁰ are exact
    return ops.as_contig((bits @ ops.asarray(worth)).T, dtype="int32")


def AddCompressor() -> Model[InT, OutT]:
    """Sum one of two vectors for each bit.

    `Y = Σⱼ E[j, bitⱼ] / √nI`. The `2 * nI * width` parameters are initialized uniformly
    in ±0.1. Source: Xue and Aletras (2022), §3.4, equation 2.
    """
    return _build("addcompressor", add_forward, "E", {"nI": None})


def add_forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    checks.check_once(model, _check_weights)
    ops = model.ops
    E = peek(model, "E")
    scale = 1 / float(E.shape[0]) ** 0.5
    # vectors for 0, plus the difference for each bit 1
    Y = bits @ (E[:, 1] - E[:, 0]) + E[:, 0].sum(axis=0)
    Y *= scale
    Y, backprop_dropout = apply_dropout(model, Y, is_train)

    def backprop(dY: OutT) -> InT:
        dY = backprop_dropout(dY) * scale
        ones = bits.T @ dY
        model.inc_grad("E", ops.xp.stack([dY.sum(axis=0) - ones, ones], axis=1))
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def ProjCompressor() -> Model[InT, OutT]:
    """Correlate codes with learned axes, one for each dimension.

    `Y[j] = ⟨bits - mean, Wⱼ - mean⟩ / (‖bits - mean‖ ‖Wⱼ - mean‖)` (Pearson), or zeros
    if all bits are equal. Axes are initialized uniformly in ±0.1. This compressor has
    the fewest parameters, `nI * width`, and the paper's best results.

    Source: Xue and Aletras (2022), §3.4, equation 3, with d axes of T numbers (printed:
    T axes of d).
    """
    return _build("projcompressor", proj_forward, "W", {"nI": None})


def proj_forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    checks.check_once(model, _check_weights)
    ops = model.ops
    codes, _ = _standardize(ops, bits)
    axes, norms = _standardize(ops, peek(model, "W"))
    Y, backprop_dropout = apply_dropout(model, codes @ axes.T, is_train)

    def backprop(dY: OutT) -> InT:
        d_axes = backprop_dropout(dY).T @ codes
        # remove the component along the axis
        along = (d_axes * axes).sum(axis=1, keepdims=True)
        model.inc_grad("W", (d_axes - along * axes) / norms)
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def _standardize(ops: Ops, X: Any) -> tuple[Any, Any]:
    """Center rows and scale them to length 1. Also return their lengths, `(n, 1)`."""
    centered = X - X.mean(axis=1, keepdims=True)
    norms = ops.xp.sqrt((centered**2).sum(axis=1, keepdims=True))
    norms = ops.xp.maximum(norms, _SMALLEST_NORM)
    return centered / norms, norms


def _build(
    name: str,
    forward: Callable,
    params: str,
    dims: Mapping[str, int | None],
    **attrs: int,
) -> Model:
    return Model(
        name,
        forward,
        init=init,
        params=dict.fromkeys(params),
        dims={"nO": None, **dims},
        attrs={**attrs, "dropout_rate": 0.0},
    )


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    shapes = _find_shapes(model)
    for name, shape in shapes.items():
        # zero: equal weights of a pool
        draw = zero_init if len(shapes) > 1 and name == "W" else uniform_init
        model.set_param(name, draw(model.ops, shape))


def _check_weights(model: Model) -> None:
    if "num_bits" in model.attrs:
        checks.check_integer(model, "num_bits", 1, MAX_CODEWORD)
    checks.check_params(model, _find_shapes(model))


def _find_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    nO, num_bits = model.get_dim("nO"), model.attrs.get("num_bits")
    if model.has_dim("nV"):
        return {"E": (model.get_dim("nV"), nO)}
    nI = model.get_dim("nI")
    if num_bits is not None:
        return {"E": (2**num_bits, nO), "W": (-(-nI // num_bits), nO)}
    return {"E": (nI, 2, nO)} if "E" in model.param_names else {"W": (nO, nI)}
