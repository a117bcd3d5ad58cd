from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from thinc.api import Model, glorot_uniform_init, uniform_init
from thinc.types import Floats2d

from ..kernels.characters import (
    N_ROWS,
    N_TYPES,
    find_character_rows,
    find_types,
    find_windows,
    split_words,
)
from .checks import check_integer, check_params
from .params import check_once, inc_grad, peek
from .table import inc_table_grad, scatter_rows

InT = Sequence[str]
OutT = Floats2d

#: The most characters of a word.
MAX_CHARS = 10_000


def CharCNN(
    nM: int = 25, *, num_kernels: int = 20, ngram_size: int = 3, max_chars: int = 20
) -> Model[InT, OutT]:
    """Embed words by convolutions over their characters, and the maximum of each.

    A character is a learned vector, `nM` wide, and four numbers that say whether it is
    upper case, lower case, a digit or punctuation. Kernels of each length from 1 to
    `ngram_size` begin at each character of a word; what they see beyond its end is
    zeros, not a learned vector as in the authors' code. The output is what each kernel
    finds at most in a word, and its bias, without an activation function, as in paper
    and code. A word without characters is zeros. Arguments: see `CharCNNEmbed`.

    The vector of a character is the sum of two rows of `E`, by its code point: see
    `find_character_rows`. No two characters of Unicode have the same two rows.

    *Input:* `n` words. *Output shape:* `(n, num_kernels * ngram_size)`, float32, the
        kernels of length 1 first.

    Source: Li, Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in
    the Case of NER" (2020), §3.1, whose numbers are the defaults.
    """
    names = ["E", *_list_kernels(ngram_size), "b"]
    return Model(
        "charcnn",
        forward,
        init=init,
        params=dict.fromkeys(names),
        dims={
            "nO": num_kernels * ngram_size,
            "nK": num_kernels,
            "nM": nM,
            "nV": N_ROWS,
        },
        attrs={"max_chars": max_chars},
    )


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    ops: Any = model.ops
    chars = split_words(words, model.attrs["max_chars"])
    Y = ops.alloc2f(len(words), model.get_dim("nO"))
    if len(chars.indices) == 0:
        return Y, lambda dY: []
    rows = ops.asarray(find_character_rows(chars.codes))
    types = ops.asarray2f(find_types(chars.codes))
    X = ops.xp.concatenate([peek(model, "E")[rows].sum(axis=1), types], axis=1)
    table, backprop_table = _multiply(model, X)
    windows = ops.asarray2i(find_windows(chars, _get_ngram_size(model)))
    has_chars = ops.asarray(chars.lengths > 0)
    lengths = ops.asarray1i(chars.lengths[chars.lengths > 0])
    best, which = ops.reduce_max(ops.gather_add(table, windows), lengths)
    Y[has_chars] = best + peek(model, "b")

    def backprop(dY: OutT) -> InT:
        d_best = ops.as_contig(dY[has_chars], dtype="float32")
        d_windows = ops.backprop_reduce_max(d_best, which, lengths)
        d_table = ops.alloc2f(*table.shape)
        scatter_rows(ops, windows, d_windows, d_table)
        d_vectors = backprop_table(d_table)[:, : model.get_dim("nM")]
        inc_table_grad(model, "E", rows, ops.as_contig(d_vectors))
        inc_grad(model, "b", d_best.sum(axis=0))
        return []

    return Y, backprop


def _multiply(model: Model, X: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Multiply characters with what kernels have for each place of a window.

    What a kernel finds in a window is the sum of its products with the characters, and
    there are few different characters, `(c, nI)`. For each place there are `c + 1`
    rows, the last of them zeros, for what is beyond the end of a word.
    """
    ops, nK, nO = cast(Any, model.ops), model.get_dim("nK"), model.get_dim("nO")
    names = _list_kernels(_get_ngram_size(model))
    # kernels have nothing for the places after their length
    W = ops.alloc3f(len(names), nO, X.shape[1])
    blocks = [W[: k + 1, k * nK : (k + 1) * nK] for k in range(len(names))]
    for name, block in zip(names, blocks, strict=True):
        block[...] = peek(model, name).transpose(1, 0, 2)
    W = W.reshape(-1, X.shape[1])
    table = ops.alloc3f(len(names), len(X) + 1, nO)
    products = ops.gemm(X, W, trans2=True).reshape(len(X), len(names), nO)
    table[:, :-1] = products.transpose(1, 0, 2)

    def backprop(d_table: Any) -> Any:
        d_products = d_table.reshape(table.shape)[:, :-1].transpose(1, 0, 2)
        d_products = ops.as_contig(d_products).reshape(len(X), -1)
        dW = ops.gemm(d_products, X, trans1=True).reshape(len(names), nO, -1)
        for k, name in enumerate(names):
            d_block = dW[: k + 1, k * nK : (k + 1) * nK]
            inc_grad(model, name, d_block.transpose(1, 0, 2))
        return ops.gemm(d_products, W)

    return table.reshape(-1, nO), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    # the sum of two such rows is about as long as the one-hot vector of a type
    bound = float(np.sqrt(1.5 / model.get_dim("nM")))
    shapes = _find_shapes(model)
    model.set_param("E", uniform_init(model.ops, shapes["E"], lo=-bound, hi=bound))
    for name in _list_kernels(_get_ngram_size(model)):
        nK, length, nI = shapes[name]
        W: Any = glorot_uniform_init(model.ops, (nK, length * nI))
        model.set_param(name, W.reshape(nK, length, nI))
    model.set_param("b", model.ops.alloc1f(*shapes["b"]))


def _check_weights(model: Model) -> None:
    check_integer(model, "max_chars", 1, MAX_CHARS)
    check_params(model, _find_shapes(model))


def _list_kernels(ngram_size: int) -> list[str]:
    return [f"W{length}" for length in range(1, ngram_size + 1)]


def _get_ngram_size(model: Model) -> int:
    return model.get_dim("nO") // model.get_dim("nK")


def _find_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    nO, nK, nM, nV = (model.get_dim(name) for name in ("nO", "nK", "nM", "nV"))
    kernels = enumerate(_list_kernels(_get_ngram_size(model)), start=1)
    shapes = {name: (nK, length, nM + N_TYPES) for length, name in kernels}
    return {"E": (nV, nM), **shapes, "b": (nO,)}
