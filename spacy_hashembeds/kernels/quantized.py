"""Convolutions whose products are of int8 or bfloat16, where a processor has these.

A row is quantized by its largest number, the weights of an output by theirs. Products
are summed in int32, or of bfloat16 in float32; what comes after them is float32.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import compiled
from .mixing import Norm

#: What products can be of.
PRECISIONS = ("float32", "bfloat16", "int8")

#: Outputs lie together by so many: the longest vectors have as many numbers.
LANES = 16


class Packed(NamedTuple):
    """Maxout's weights for an instruction set, the outputs filled up to whole vectors.

    Words are of 32 bits, each with two or four weights of one output. Sums begin with
    what makes up for bytes of rows that have no sign.

    *Shapes:* `(outputs / 16, neighbours * words of a row, 16)`,
    `(neighbours, outputs)` and `(outputs,)`.
    """

    words: NDArray
    begin: NDArray
    scales: NDArray
    norm: Norm
    instructions: int
    kernels: Any


def find_instructions(precision: str) -> int | None:
    """Find the instruction set for products of a precision, if there is one."""
    found = compiled.kernels.INSTRUCTION_SETS if compiled.kernels is not None else ()
    for number, (_, is_int8, is_fast) in enumerate(found):
        if is_fast and precision == ("int8" if is_int8 else "bfloat16"):
            return number
    return None


def name_instructions(precision: str) -> str | None:
    """Name the instruction set for products of a precision, if there is one."""
    number = find_instructions(precision)
    return None if number is None else compiled.kernels.INSTRUCTION_SETS[number][0]


def pack(W: NDArray, norm: Norm, instructions: int) -> Packed:
    """Pack weights with pieces as in the norm. *Shape:* `(nP * nO, nI)`."""
    is_int8 = compiled.kernels.INSTRUCTION_SETS[instructions][1]
    width = len(norm.scale)
    by_neighbour = np.ascontiguousarray(W, dtype="float32").reshape(-1, width)
    scales = np.ones(len(W), dtype="float32")
    begin = np.zeros((len(W), W.shape[1] // width), dtype="int32")
    if is_int8:
        codes, scales = quantize(W)
        begin -= 128 * codes.reshape(*begin.shape, width).sum(axis=2, dtype="int32")
        by_neighbour = codes.reshape(-1, width)
    else:
        words, _ = compiled.kernels.encode_rows(by_neighbour, False)
        by_neighbour = words.view("uint16")
    a_word = 4 // by_neighbour.itemsize
    by_neighbour = np.pad(by_neighbour, [(0, 0), (0, -by_neighbour.shape[1] % a_word)])
    words = by_neighbour.view("uint32").reshape(len(W), -1)
    missing = (0, -len(W) % LANES)
    words = np.pad(words, [missing, (0, 0)]).reshape(-1, LANES, words.shape[1])
    return Packed(
        np.ascontiguousarray(words.transpose(0, 2, 1)),
        np.ascontiguousarray(np.pad(begin, [missing, (0, 0)]).T),
        np.pad(scales, missing),
        norm,
        instructions,
        compiled.kernels,
    )


def quantize(W: NDArray) -> tuple[NDArray, NDArray]:
    """Quantize rows to int8, from -127 to 127. RETURNS: Codes, and a scale for each."""
    largest = abs(W).max(axis=1)
    scales = (largest / 127).astype("float32")
    factors = np.divide(127, largest, out=np.zeros_like(largest), where=largest > 1e-30)
    return np.rint(W * factors[:, None]).astype("int8"), scales


def add_convolved(packed: Packed, X: NDArray, rows: NDArray, Y: NDArray) -> None:
    """Add to Y what a convolution makes of rows of X.

    *Shapes:* `(n, width)`, `(m,)` and `(m, width)`.
    """
    *weights, kernels = packed
    X, rows = compiled.lay_out(X, "float32"), compiled.lay_out(rows, "int64")
    kernels.add_convolved(Y, X, rows, *weights)
