"""Compressors of `HashFormerEmbed`, from the codes of `hashers.py` to vectors."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from thinc.api import Model, Ops, uniform_init, zero_init
from thinc.types import Floats2d, Ints2d

from ..checks import MAX_ROWS, check_integers
from ..thinc_internals import partial
from .checks import check_integer, check_params
from .params import check_once, inc_grad, peek
from .table import (
    apply_dropout,
    check_table,
    finish_forward,
    get_table,
    scatter_rows,
    table_gradient,
)

InT = Floats2d
OutT = Floats2d

Shapes = Mapping[str, tuple[int, ...]]

#: The most bits of a codeword: a codebook of a million vectors.
MAX_CODEWORD = 20

# What the authors' code divides by at least.
_SMALLEST_NORM = 1e-8


def EmbCompressor(*, rows: int) -> Model[Ints2d, OutT]:
    """Give each word a row of a table `E`, which it shares with others.

    rows (int): How many rows there are, the paper's N: 50,000, or 1,000 for as many
        parameters, `rows * width`, as the others have. Up to 2**20 with `LSHHasher`.

    *Input shape:* `(n, 1)`, unsigned integers. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.1 to §3.3.
    """
    check_integers(1, MAX_ROWS, rows=rows)
    return Model(
        "embcompressor",
        emb_forward,
        init=partial(_init, _find_emb_shapes, {}),
        params={"E": None},
        dims={"nO": None, "nV": rows},
        attrs={"dropout_rate": 0.0},
    )


def _find_emb_shapes(model: Model) -> Shapes:
    return {"E": (model.get_dim("nV"), model.get_dim("nO"))}


def emb_forward(
    model: Model[Ints2d, OutT], rows: Ints2d, is_train: bool
) -> tuple[OutT, Callable[[OutT], Any]]:
    check_once(model, check_table)
    # a copy, as long as rows are integers: nobody gets hold of the table
    output: Any = get_table(model)[rows[:, 0]]
    return finish_forward(model, rows, output, is_train)


def PoolCompressor(*, num_bits: int = 10) -> Model[InT, OutT]:
    """Cut codes into codewords, and average their vectors by learned weights.

    `(2 ** num_bits + ceil(128 / num_bits)) * width` parameters for codes of 128 bits:
    a vector for each codeword, and for each place the weights that it has there.

    `Y = Σⱼ softmax(W)ⱼ ⊙ E[cⱼ]`, where the weights of each dimension sum to 1 over the
    codewords, and begin as an average. Those are `num_bits` successive bits each, and
    share one codebook, `E`, uniform in ±0.1; a last one of fewer bits is the number
    that these are.

    num_bits (int): How many bits a codeword has, the paper's k, 1 to 20. The paper has
        10, thirteen codewords. One more doubles the parameters.

    *Input shape:* `(n, nI)`, float32, each 0 or 1. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras (2022), §3.4, equation 1.
    """
    check_integers(1, MAX_CODEWORD, num_bits=num_bits)
    return Model(
        "poolcompressor",
        pool_forward,
        init=partial(_init, _find_pool_shapes, {"W": zero_init}),
        params={"E": None, "W": None},
        dims={"nO": None, "nI": None},
        attrs={"num_bits": num_bits, "dropout_rate": 0.0},
    )


def pool_forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_pool)
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
        with table_gradient(model, "E") as dE:
            for j, rows in enumerate(codewords):
                d_weights[j] = (E[rows] * dY).sum(axis=0)
                scatter_rows(ops, rows.reshape(-1, 1), dY * weights[j], dE)
        inc_grad(model, "W", weights * (d_weights - (weights * d_weights).sum(axis=0)))
        return ops.alloc2f(*bits.shape)

    return Y, backprop


def find_codewords(ops: Any, bits: Any, num_bits: int) -> Any:
    """Find the codewords of codes. *Shape:* `(n, nI)` to `(codewords, n)`, int32.

    Bits are float32, each 0 or 1; the first is the highest.
    """
    nI = bits.shape[1]
    worth = np.zeros((nI, -(-nI // num_bits)), dtype="float32")
    for j in range(worth.shape[1]):
        word = worth[j * num_bits : (j + 1) * num_bits, j]
        word[:] = 2.0 ** np.arange(len(word))[::-1]
    # sums of powers of 2 up to 2²⁰ are exact
    return ops.as_contig((bits @ ops.asarray(worth)).T, dtype="int32")


def _check_pool(model: Model) -> None:
    check_integer(model, "num_bits", 1, MAX_CODEWORD)
    check_params(model, _find_pool_shapes(model))


def _find_pool_shapes(model: Model) -> Shapes:
    num_bits, nO = model.attrs["num_bits"], model.get_dim("nO")
    n_codewords = -(-model.get_dim("nI") // num_bits)
    return {"E": (2**num_bits, nO), "W": (n_codewords, nO)}


def AddCompressor() -> Model[InT, OutT]:
    """Add up a vector for each bit, one of two.

    `2 * 128 * width` parameters for codes of 128 bits.

    `Y = Σⱼ E[j, bitⱼ] / √nI`, where parameters begin uniform in ±0.1.

    *Input shape:* `(n, nI)`, float32, each 0 or 1. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras (2022), §3.4, equation 2.
    """
    return Model(
        "addcompressor",
        add_forward,
        init=partial(_init, _find_add_shapes, {}),
        params={"E": None},
        dims={"nO": None, "nI": None},
        attrs={"dropout_rate": 0.0},
    )


def add_forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, lambda _: check_params(model, _find_add_shapes(model)))
    ops = model.ops
    E = peek(model, "E")
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


def _find_add_shapes(model: Model) -> Shapes:
    return {"E": (model.get_dim("nI"), 2, model.get_dim("nO"))}


def ProjCompressor() -> Model[InT, OutT]:
    """Give the correlation of a code with learned axes, one for each dimension.

    `128 * width` parameters for codes of 128 bits: the fewest, and the paper's best.

    `Y[j] = ⟨bits - mean, Wⱼ - mean⟩ / (‖bits - mean‖ ‖Wⱼ - mean‖)` (Pearson), between
    -1 and 1. A code of equal bits correlates with nothing, and is zeros. Axes begin
    uniform in ±0.1. The longer one is, the less a step of training turns it.

    *Input shape:* `(n, nI)`, float32, each 0 or 1. *Output shape:* `(n, nO)`, float32.

    Source: Xue and Aletras (2022), §3.4, equation 3, where `wʲ ∈ Rᵈ`, j to T, should
    read T numbers each, j to d.
    """
    return Model(
        "projcompressor",
        proj_forward,
        init=partial(_init, _find_proj_shapes, {}),
        params={"W": None},
        dims={"nO": None, "nI": None},
        attrs={"dropout_rate": 0.0},
    )


def proj_forward(
    model: Model[InT, OutT], bits: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, lambda _: check_params(model, _find_proj_shapes(model)))
    ops = model.ops
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


def _standardize(ops: Ops, X: Any) -> tuple[Any, Any]:
    """Centre rows, and bring them to length 1; give their lengths too, `(n, 1)`."""
    centred = X - X.mean(axis=1, keepdims=True)
    norms = ops.xp.sqrt((centred**2).sum(axis=1, keepdims=True))
    norms = ops.xp.maximum(norms, _SMALLEST_NORM)
    return centred / norms, norms


def _find_proj_shapes(model: Model) -> Shapes:
    return {"W": (model.get_dim("nO"), model.get_dim("nI"))}


def _init(
    find_shapes: Callable[[Model], Shapes],
    initializers: Mapping[str, Callable],
    model: Model,
    X: Any = None,
    Y: Any = None,
) -> None:
    for name, shape in find_shapes(model).items():
        draw = initializers.get(name, uniform_init)
        model.set_param(name, draw(model.ops, shape))
