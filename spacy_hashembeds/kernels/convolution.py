"""Convolutions with prepacked weights. BLAS packs weights in each call, which takes
much of its time for short texts.

Products are computed in float32, or in bfloat16 or int8 if the processor supports it.
For int8, each row, and the weights of each output, are scaled by their largest absolute
value. Products of int8 are summed in int32, others in float32; the steps after the
product use float32.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import compiled
from .mixing import Norm
from .rows import lay_out_array

#: Data types of products.
PRECISIONS = ("float32", "bfloat16", "int8")


class Packed(NamedTuple):
    """Maxout's weights for an instruction set, with outputs padded to whole vectors.

    A word of 32 bits holds one, two or four weights of one output. `begin` are the
    initial values of sums: they offset the storage of int8 rows as unsigned bytes.

    *Shapes:* `(outputs / 16, neighbors * words of a row, 16)`,
    `(neighbors, outputs)` and `(outputs,)`.
    """

    words: NDArray
    begin: NDArray
    scales: NDArray
    norm: Norm
    instructions: int
    kernels: Any


def find_instructions(precision: str) -> int | None:
    """Find the fastest instruction set for a precision, if any is faster than numpy."""
    found = compiled.kernels.INSTRUCTION_SETS if compiled.kernels is not None else ()
    suitable = (i for i, (_, *rest) in enumerate(found) if rest == [precision, True])
    return next(suitable, None)


def name_instructions(precision: str) -> str | None:
    """Return the name of the instruction set that `find_instructions` finds."""
    number = find_instructions(precision)
    return None if number is None else compiled.kernels.INSTRUCTION_SETS[number][0]


def pack(W: NDArray, norm: Norm, instructions: int) -> Packed:
    """Pack weights, with pieces in the order of the norm. *Shape:* `(nP * nO, nI)`."""
    kernels = compiled.kernels
    precision = kernels.INSTRUCTION_SETS[instructions][1]
    W, is_int8 = lay_out_array(W, "float32"), precision == "int8"
    if precision == "float32":
        codes, scales = W.view("uint32"), np.ones(len(W), dtype="float32")
    else:
        words, scales = kernels.encode_rows(W, is_int8)
        codes = words.view("uint8" if is_int8 else "uint16")[:, : W.shape[1]]
    codes = codes.reshape(len(W), -1, len(norm.scale))  # by neighbor
    begin = np.zeros(codes.shape[:2], dtype="int32")
    if is_int8:  # weights are signed, rows unsigned
        codes = (codes ^ 128).view("int8")
        begin -= 128 * codes.sum(axis=2, dtype="int32")
    padding = [(0, 0), (0, 0), (0, -codes.shape[2] % (4 // codes.itemsize))]
    words = np.pad(codes, padding).view("uint32").reshape(len(W), -1)
    missing = (0, -len(W) % kernels.LANES)
    words = np.pad(words, [missing, (0, 0)]).reshape(-1, kernels.LANES, words.shape[1])
    return Packed(
        np.ascontiguousarray(words.transpose(0, 2, 1)),
        np.ascontiguousarray(np.pad(begin, [missing, (0, 0)]).T),
        np.pad(scales, missing),
        norm,
        instructions,
        kernels,
    )


def add_convolved(packed: Packed, X: NDArray, rows: NDArray, Y: NDArray) -> None:
    """Add the output of a convolution for rows of X to Y.

    *Shapes:* `(n, width)`, `(m,)`, int64, and `(m, width)`, contiguous.
    """
    *weights, kernels = packed
    kernels.add_convolved(Y, X, rows, *weights)
