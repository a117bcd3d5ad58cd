"""Sequences packed for recurrent layers: no padding, one product for each time step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Packing(NamedTuple):
    """Where the tokens of several sequences lie once they are packed.

    Packed are first the first tokens of all sequences, the longest sequence first, then
    all second ones, and so on.

    rows (ndarray): For each packed row, which token it is of all sequences one after
        another. Shape `(n,)`, int64.
    places (ndarray): For each token its packed row: the inverse of `rows`.
    backwards (ndarray): For each packed row, that of the same sequence whose token is
        as far from its end as this one is from its beginning. It is its own inverse.
    sequences (ndarray): For each packed row the sequence that it is of.
    batch_sizes (ndarray): How many sequences have a token at each time step, shape
        `(longest,)`.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    backwards: NDArray[np.int64]
    sequences: NDArray[np.int64]
    batch_sizes: NDArray[np.int64]


def pack(lengths: Sequence[int]) -> Packing:
    """Find where the tokens of sequences lie once they are packed.

    lengths (Sequence[int]): The tokens of each sequence; 0 for one without any.
    """
    sizes = np.asarray(lengths, dtype="int64")
    order = np.argsort(-sizes, kind="stable")
    ordered = sizes[order]
    steps = np.arange(sizes.max(initial=0))[:, None]
    is_token = steps < ordered
    time, place = np.nonzero(is_token)  # row by row: in the order of packing
    starts = np.cumsum(sizes) - sizes
    rows = starts[order[place]] + time
    batch_sizes = is_token.sum(axis=1)
    first_rows = np.cumsum(batch_sizes) - batch_sizes
    return Packing(
        rows=rows,
        places=np.argsort(rows),
        backwards=first_rows[ordered[place] - 1 - time] + place,
        sequences=order[place],
        batch_sizes=batch_sizes,
    )


def split(X: Any, lengths: Sequence[int]) -> list[Any]:
    """Split an array into the parts of sequences that lie one after another."""
    ends = np.cumsum(lengths).tolist()
    return [X[end - n : end] for end, n in zip(ends, lengths, strict=True)]
