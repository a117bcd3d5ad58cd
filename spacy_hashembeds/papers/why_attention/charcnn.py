import string
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, glorot_uniform_init, uniform_init
from thinc.types import Floats2d

from ...layers.checks import check_integer, check_once, check_params, peek
from ...layers.tables import add_row_gradients, inc_table_grad

InT = Sequence[str]
OutT = Floats2d

#: Upper limit of `max_chars`.
MAX_CHARS = 10_000

# A character has two rows: the code point modulo this number, and modulo the next one.
# Their product exceeds 0x10FFFF: all pairs of rows are distinct.
_N_ROWS = 1056
#: Rows of the table of characters.
N_ROWS = _N_ROWS + _N_ROWS + 1

N_TYPES = 4
_TYPES = {"Lu": 0, "Ll": 1, "Nd": 2, "P": 3}


def CharCNN(
    nM: int = 25, *, num_kernels: int = 20, ngram_size: int = 3, max_chars: int = 20
) -> Model[InT, OutT]:
    """Embed words by the maxima of convolutions over their characters.

    A character is a learned vector of width `nM`, the sum of two rows of `E`, and a
    one-hot vector of upper case, lower case, digit and punctuation. Kernels of length 1
    to `ngram_size` start at each character, and read zeros beyond the word (in the
    authors' code, a learned vector). As in the paper, there is no activation function.
    Empty words give zeros.

    *Output shape:* `(n, num_kernels * ngram_size)`, float32, kernels of length 1 first.
    Source: Li, Fu and Ma, "Why Attention?" (2020), §3.1.
    """
    return Model(
        "charcnn",
        forward,
        init=init,
        params=dict.fromkeys(["E", *_list_kernels(ngram_size), "b"]),
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
    size = len(_get_kernels(model))
    codes, found, n_chars = find_windows(words, model.attrs["max_chars"], size)
    Y = ops.alloc2f(len(words), model.get_dim("nO"))
    if len(codes) == 0:
        return Y, lambda dY: []
    rows = ops.asarray(find_character_rows(codes))
    types = ops.asarray2f(encode_types(codes))
    X = ops.xp.concatenate([peek(model, "E")[rows].sum(axis=1), types], axis=1)
    table, backprop_table = _multiply(model, X)
    windows = ops.asarray2i(found)
    has_chars = ops.asarray(n_chars > 0)
    lengths = ops.asarray1i(n_chars[n_chars > 0])
    best, which = ops.reduce_max(ops.gather_add(table, windows), lengths)
    Y[has_chars] = best + peek(model, "b")

    def backprop(dY: OutT) -> InT:
        d_best = ops.as_contig(dY[has_chars], dtype="float32")
        d_windows = ops.backprop_reduce_max(d_best, which, lengths)
        d_table = ops.alloc2f(*table.shape)
        add_row_gradients(ops, windows, d_windows, d_table)
        d_vectors = backprop_table(d_table)[:, : model.get_dim("nM")]
        inc_table_grad(model, "E", rows, ops.as_contig(d_vectors))
        model.inc_grad("b", d_best.sum(axis=0))
        return []

    return Y, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    # the sum of two rows has about the length of a one-hot vector
    bound = float(np.sqrt(1.5 / model.get_dim("nM")))
    shapes = _find_shapes(model)
    model.set_param("E", uniform_init(model.ops, shapes["E"], lo=-bound, hi=bound))
    for name in _get_kernels(model):
        nK, length, nI = shapes[name]
        W: Any = glorot_uniform_init(model.ops, (nK, length * nI))
        model.set_param(name, W.reshape(nK, length, nI))
    model.set_param("b", model.ops.alloc1f(*shapes["b"]))


def _multiply(model: Model, X: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Multiply distinct characters with kernels, for each place of a window.

    *Shape:* `(c, nI)` to `(places * (c + 1), nO)`. The product of a window is a sum of
    rows. The last row of each place is zeros, for places beyond a word.
    """
    ops, nK, nO = cast(Any, model.ops), model.get_dim("nK"), model.get_dim("nO")
    names = _get_kernels(model)
    # kernels are padded with zeros
    W = ops.alloc3f(len(names), nO, X.shape[1])
    for k, name in enumerate(names):
        W[: k + 1, k * nK : (k + 1) * nK] = peek(model, name).transpose(1, 0, 2)
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
            model.inc_grad(name, d_block.transpose(1, 0, 2))
        return ops.gemm(d_products, W)

    return table.reshape(-1, nO), backprop


def find_windows(
    words: Sequence[str], max_chars: int, size: int
) -> tuple[NDArray, NDArray, NDArray]:
    """Find the characters of words, and the window that starts at each character.

    *Shapes:* distinct code points, `(c,)`, uint32; rows in the table of `_multiply`,
    `(n, size)`, int32; and the number of characters of each word, `(words,)`, int32.
    """
    cut = [word[:max_chars] for word in words]
    lengths = np.fromiter(map(len, cut), dtype="int32", count=len(cut))
    buffer = "".join(cut).encode("utf-32-le", "surrogatepass")
    codes, indices = np.unique(np.frombuffer(buffer, "<u4"), return_inverse=True)
    n, places = len(indices), np.arange(size)
    left = np.repeat(lengths.cumsum(), lengths) - np.arange(n)
    following = indices[np.minimum(np.arange(n)[:, None] + places, n - 1)]
    rows = np.where(places < left[:, None], following, len(codes))
    rows += places * (len(codes) + 1)
    return codes.astype("uint32"), rows.astype("int32"), lengths


def find_character_rows(codes: NDArray) -> NDArray:
    """Find the two rows of each code point. *Shape:* `(c,)` to `(c, 2)`, uint32."""
    return np.stack([codes % _N_ROWS, _N_ROWS + codes % (_N_ROWS + 1)], axis=1)


def encode_types(codes: NDArray) -> NDArray:
    """Encode the type of each code point one-hot, with zeros for other types.

    Types are Unicode categories, except that all ASCII symbols, such as "$", are
    punctuation. *Shape:* `(c,)` to `(c, N_TYPES)`, float32.
    """
    types = []
    for char in map(chr, codes.tolist()):
        category = "P" if char in string.punctuation else unicodedata.category(char)
        types.append(_TYPES.get(category, _TYPES.get(category[0], N_TYPES)))
    return np.eye(N_TYPES + 1, N_TYPES, dtype="float32")[types]


def _check_weights(model: Model) -> None:
    check_integer(model, "max_chars", 1, MAX_CHARS)
    check_params(model, _find_shapes(model))


def _list_kernels(ngram_size: int) -> list[str]:
    return [f"W{length}" for length in range(1, ngram_size + 1)]


def _get_kernels(model: Model) -> list[str]:
    return _list_kernels(model.get_dim("nO") // model.get_dim("nK"))


def _find_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    nO, nK, nM, nV = (model.get_dim(name) for name in ("nO", "nK", "nM", "nV"))
    kernels = enumerate(_get_kernels(model), start=1)
    shapes = {name: (nK, length, nM + N_TYPES) for length, name in kernels}
    return {"E": (nV, nM), **shapes, "b": (nO,)}
