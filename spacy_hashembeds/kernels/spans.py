"""Spans of sequences, which Transformers read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# A group of spans ends where more than this share of its rows would be padding,
MOST_PADDING = 1 / 8
# but not before it has so many: with fewer, a step costs more than it computes.
FEWEST_ROWS = 128


class Spans(NamedTuple):
    """Parts of sequences, so that one span speaks for each token. *Shapes:* `(n,)`.

    `starts` are counted among the tokens of all sequences. A span speaks for its tokens
    `kept_from` up to, without it, `kept_to`, counted from its start.
    """

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    kept_from: NDArray[np.int64]
    kept_to: NDArray[np.int64]


def find_spans(lengths: Sequence[int], max_length: int, stride: int) -> Spans:
    """Find the spans that sequences are read in.

    A sequence of up to `max_length` tokens is one span, and one without tokens is none.
    The spans of a longer one begin `stride` tokens after each other, up to the first
    that reaches its end; that one is moved back to end where the sequence ends, so that
    all have `max_length` tokens. Where they overlap, each token has the span in which
    it is further away from the nearest end, and the earlier one if both are alike.
    """
    sizes = np.asarray(lengths, dtype="int64")
    counts = 1 + -(-np.maximum(sizes - max_length, 0) // stride)
    counts[sizes == 0] = 0
    sequences = np.repeat(np.arange(len(sizes)), counts)
    numbers = np.arange(len(sequences)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = sizes[sequences]
    starts = np.minimum(numbers * stride, np.maximum(size - max_length, 0))
    # half-way between the middles of two spans
    is_first, middles = numbers == 0, 2 * starts + max_length - 1
    borders = (middles + np.roll(middles, 1)) // 4 + 1
    begins = np.where(is_first, 0, borders)
    ends = np.where(np.roll(is_first, -1), size, np.roll(borders, -1))
    offsets = (np.cumsum(sizes) - sizes)[sequences]
    return Spans(
        starts=offsets + starts,
        lengths=np.minimum(size, max_length),
        kept_from=begins - starts,
        kept_to=ends - starts,
    )


def group_spans(lengths: Sequence[int], max_rows: int) -> list[NDArray[np.int64]]:
    """Group spans of similar length, to be padded: their indices, the longest first.

    A group has at most `max_rows` with its padding, unless a single span has more.
    """
    sizes = np.asarray(lengths, dtype="int64")
    order = np.argsort(-sizes, kind="stable")
    cuts, start, n_padding = [], 0, 0
    for i, number in enumerate(order.tolist()):
        longest = int(sizes[order[start]])
        n_rows = (i + 1 - start) * longest
        n_padding += longest - int(sizes[number])
        is_wasteful = n_padding > MOST_PADDING * n_rows
        is_large = n_rows - longest >= FEWEST_ROWS
        if i > start and (n_rows > max_rows or (is_wasteful and is_large)):
            cuts.append(i)
            start, n_padding = i, 0
    return np.split(order, cuts) if len(order) else []
