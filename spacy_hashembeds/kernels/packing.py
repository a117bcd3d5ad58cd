"""Sequences packed for recurrent layers: those of similar length step by step."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Where sequences are padded, blocks are as large as to be so many, so that most have
# sequences of nearly one length.
N_BLOCKS = 4

# But with fewer sequences, a step costs more than it computes, and with more, what it
# computes no longer fits into a core's cache.
SMALLEST_BLOCK = 16
LARGEST_BLOCK = 64

# And no sequence is padded to more than so many times its length, however long another
# one is.
MOST_PADDED = 4


class Block(NamedTuple):
    """Sequences of similar length, step by step.

    First there are the rows of the first step of all sequences, then those of the
    second, and so on, in each step the longest sequence first. If the block is padded,
    sequences that have ended have rows too, which hold their last token once more.

    backwards (ndarray): For each row, that of the same sequence whose token is as far
        from its end as this one is from its beginning, or itself where none is. It is
        its own inverse. Shape `(n,)`, int64.
    sequences (ndarray): The sequences that rows are of: of each row, or, if the block
        is padded, of the rows of any step.
    batch_sizes (ndarray): How many sequences have a token at each step, shape
        `(longest,)`.
    """

    backwards: NDArray[np.int64]
    sequences: NDArray[np.int64]
    batch_sizes: NDArray[np.int64]


class Packing(NamedTuple):
    """Where the tokens of several sequences lie once they are packed.

    rows (ndarray): For each row of all blocks, which token it holds of all sequences
        one after another. Shape `(n,)`, int64.
    places (ndarray): For each token its row.
    blocks (list[Block]): The longest sequences are the first block, and so on.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    blocks: list[Block]


def pack(lengths: Sequence[int], *, is_padded: bool) -> Packing:
    """Find where the tokens of sequences lie once they are packed.

    lengths (Sequence[int]): The tokens of each sequence; 0 for one without any.
    is_padded (bool): Whether all sequences of a block have as many rows as the longest.
        If so, they are cut into blocks, and else there is one.
    """
    sizes = np.asarray(lengths, dtype="int64")
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    starts = np.cumsum(sizes) - sizes
    cuts = cut(sizes[order].tolist()) if is_padded else []
    rows, is_token, blocks = [], [], []
    for sequences in np.split(order, cuts) if len(order) else ():
        time, place, block = _pack_block(sequences, sizes[sequences], is_padded)
        last = sizes[sequences][place] - 1
        rows.append(starts[sequences][place] + np.minimum(time, last))
        is_token.append(time <= last)
        blocks.append(block)
    (found,) = np.nonzero(_join(is_token))
    all_rows = _join(rows)
    return Packing(all_rows, found[np.argsort(all_rows[found])], blocks)


def cut(lengths: Sequence[int]) -> list[int]:
    """Cut sequences, the longest first, into blocks to be padded.

    RETURNS (list[int]): Where each block but the first begins.
    """
    size = max(SMALLEST_BLOCK, min(len(lengths) // N_BLOCKS, LARGEST_BLOCK))
    cuts, start = [], 0
    for i, length in enumerate(lengths):
        if i - start == size or length * MOST_PADDED < lengths[start]:
            cuts.append(i)
            start = i
    return cuts


def _pack_block(
    sequences: NDArray[np.int64], sizes: NDArray[np.int64], is_padded: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], Block]:
    """Pack some sequences, the longest first.

    RETURNS (tuple): The step of each row, the place of its sequence, and the block.
    """
    is_token = np.arange(sizes[0])[:, None] < sizes
    time, place = np.nonzero(is_token | is_padded)  # row by row: in the order of steps
    numbers = np.zeros(is_token.shape, dtype="int64")
    numbers[time, place] = np.arange(len(time))
    last = sizes[place] - 1
    backwards = numbers[np.where(time <= last, last - time, time), place]
    of_rows = sequences if is_padded else sequences[place]
    return time, place, Block(backwards, of_rows, is_token.sum(axis=1))


def _join(parts: Sequence[NDArray]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype="int64"), *parts])


def split(X: Any, lengths: Sequence[int]) -> list[Any]:
    """Split an array into the parts of sequences that lie one after another."""
    return [X[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]
