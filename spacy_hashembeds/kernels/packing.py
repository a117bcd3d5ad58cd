"""Sequences packed for recurrent layers."""

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
    """Sequences of similar length, step by step, in each step the longest first.

    If the block is padded, sequences that have ended have rows too, which hold their
    last token once more.

    backwards (NDArray): For each row, that of the same sequence whose token is as far
        from its end as this one is from its beginning, or itself where none is: its own
        inverse. *Shape:* `(n,)`.
    sequences (NDArray): The sequence of each row, or, if padded, of those of any step.
    batch_sizes (NDArray): How many have a token at each step. *Shape:* `(longest,)`.
    """

    backwards: NDArray[np.int64]
    sequences: NDArray[np.int64]
    batch_sizes: NDArray[np.int64]


class Packing(NamedTuple):
    """Places of tokens of several sequences in blocks, the longest sequences first.

    For each row of all blocks the token of all sequences that it holds, and for each
    token its row.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    blocks: list[Block]


def pack(lengths: Sequence[int], *, is_padded: bool) -> Packing:
    """Find where the tokens of sequences lie once they are packed.

    If padded, sequences are cut into blocks, with as many rows for each as for the
    longest of its block. Else there is one block.
    """
    sizes = np.asarray(lengths, dtype="int64")
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    starts = np.cumsum(sizes) - sizes
    cuts = cut(sizes[order].tolist()) if is_padded else []
    rows, is_token, blocks = [], [], []
    for sequences in np.split(order, cuts) if len(order) else ():
        has_token = np.arange(sizes[sequences[0]])[:, None] < sizes[sequences]
        step, place = np.nonzero(has_token | is_padded)  # in the order of steps
        of_rows = sequences[place]
        last = sizes[of_rows] - 1
        numbers = np.zeros(has_token.shape, dtype="int64")
        numbers[step, place] = np.arange(len(step))
        backwards = numbers[np.where(step <= last, last - step, step), place]
        batch_sizes = has_token.sum(axis=1)
        blocks.append(
            Block(backwards, sequences if is_padded else of_rows, batch_sizes)
        )
        rows.append(starts[of_rows] + np.minimum(step, last))
        is_token.append(step <= last)
    none = np.zeros(0, dtype="int64")
    all_rows = np.concatenate([none, *rows])
    (found,) = np.nonzero(np.concatenate([none, *is_token]))
    return Packing(all_rows, found[np.argsort(all_rows[found])], blocks)


def cut(lengths: Sequence[int]) -> list[int]:
    """Find where to cut sequences, the longest first, into blocks to be padded."""
    size = max(SMALLEST_BLOCK, min(len(lengths) // N_BLOCKS, LARGEST_BLOCK))
    cuts, start = [], 0
    for i, length in enumerate(lengths):
        if i - start == size or length * MOST_PADDED < lengths[start]:
            cuts.append(i)
            start = i
    return cuts


def split(X: Any, lengths: Sequence[int]) -> list[Any]:
    """Split an array into the parts of sequences that lie one after another."""
    return [X[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]
