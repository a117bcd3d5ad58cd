"""Sequences packed for recurrent layers: those of similar length step by step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Packing(NamedTuple):
    """Where the tokens of several sequences lie once they are packed.

    The longest sequences are the first block, and so on. Of each block there are packed
    first the first tokens of all sequences, then all second ones, and so on, in each
    step the longest sequence first.

    rows (ndarray): For each packed row, which token it is of all sequences one after
        another. Shape `(n,)`, int64.
    places (ndarray): For each token its packed row: the inverse of `rows`.
    backwards (ndarray): For each packed row, that of the same sequence whose token is
        as far from its end as this one is from its beginning. It is its own inverse.
    sequences (ndarray): For each packed row the sequence that it is of.
    batch_sizes (list[ndarray]): For each block how many sequences have a token at each
        time step, shape `(longest,)`.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    backwards: NDArray[np.int64]
    sequences: NDArray[np.int64]
    batch_sizes: list[NDArray[np.int64]]


def pack(lengths: Sequence[int], block_size: int | None = None) -> Packing:
    """Find where the tokens of sequences lie once they are packed.

    lengths (Sequence[int]): The tokens of each sequence; 0 for one without any.
    block_size (int, optional): The most sequences of a block. If None, there is one.
    """
    sizes = np.asarray(lengths, dtype="int64")
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    starts = np.cumsum(sizes) - sizes
    n_sequences = block_size or max(1, len(order))
    blocks = [
        _pack_block(order[i : i + n_sequences], sizes, starts)
        for i in range(0, len(order), n_sequences)
    ]
    rows, backward_rows, sequences, batch_sizes = (
        zip(*blocks, strict=True) if blocks else ((), (), (), ())
    )
    places = np.argsort(_join(rows))
    return Packing(
        rows=_join(rows),
        places=places,
        backwards=places[_join(backward_rows)],
        sequences=_join(sequences),
        batch_sizes=list(batch_sizes),
    )


def _pack_block(
    order: NDArray[np.int64], sizes: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ...]:
    """Pack some sequences, the longest first.

    RETURNS (tuple): `rows`, those of the tokens as far from the end, `sequences` and
        `batch_sizes`.
    """
    is_token = _make_grid(sizes[order])
    time, place = np.nonzero(is_token)  # row by row: in the order of packing
    sequences = order[place]
    first, last = starts[sequences], starts[sequences] + sizes[sequences] - 1
    return first + time, last - time, sequences, is_token.sum(axis=1)


def _make_grid(lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which steps of sequences are tokens, shape `(longest, n_sequences)`."""
    return np.arange(lengths.max(initial=0))[:, None] < lengths


def _join(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype="int64"), *parts])


def split(X: Any, lengths: Sequence[int]) -> list[Any]:
    """Split an array into the parts of sequences that lie one after another."""
    ends = np.cumsum(lengths).tolist()
    return [X[end - n : end] for end, n in zip(ends, lengths, strict=True)]
