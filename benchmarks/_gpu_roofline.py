"""The bytes that kernels move, and how near they come to the limit.

Imports no spaCy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from ._gpu_measure import Json


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The bytes that some work moves between the GPU and its memory.

    minimal (int): Those that must move: all that is read or written, each once,
        whatever number of times it is used.
    touched (int): Those that would move if nothing was kept in any cache.
    """

    minimal: int
    touched: int


def count_gather(rows: Sequence[NDArray], width: int) -> Traffic:
    """Count the bytes of summing rows, in `gather_rows`.

    Each key is read (8 bytes), and each sum (4 bytes a number) and each pair for the
    backward pass (8 bytes) written. At least each distinct row is read once; if nothing
    is kept, each row of each token.

    rows (Sequence[NDArray]): For each table the rows of tokens. *Shape:* `(n, hashes)`.
    """
    n, n_slots = len(rows[0]), _count_slots(rows)
    row_bytes = 4 * width
    fixed = (8 + row_bytes) * n * len(rows) + 8 * n * n_slots
    return Traffic(
        minimal=fixed + row_bytes * _count_distinct(rows),
        touched=fixed + row_bytes * n * n_slots,
    )


def count_scatter(rows: Sequence[NDArray], width: int, *, is_in_order: bool) -> Traffic:
    """Count the bytes of adding up gradients, in `scatter_rows`.

    At least each pair is read (8 bytes), the gradient of each sum too, and each
    distinct row of the tables' gradients is read and written. Sorting is not counted:
    it need not be. If nothing is kept, the gradient of a sum is read for each pair in a
    fixed order; by atomic additions it is read once, and a row read and written for
    each pair.
    """
    n, n_slots = len(rows[0]), _count_slots(rows)
    row_bytes = 4 * width
    pairs, sums = 8 * n * n_slots, row_bytes * n * len(rows)
    for_pairs, distinct = row_bytes * n * n_slots, row_bytes * _count_distinct(rows)
    touched = for_pairs + 2 * distinct if is_in_order else sums + 2 * for_pairs
    return Traffic(minimal=pairs + sums + 2 * distinct, touched=pairs + touched)


def describe_roofline(traffic: Traffic, times: Json, copy_bandwidth: float) -> Json:
    """Hold a time against the limit, the bandwidth of a copy.

    times (Json): Both times of the work. What the GPU takes counts, where it is known.
    copy_bandwidth (float): In GB a second, bytes read and written.
    """
    clock = "queued" if times["queued"] else "called"
    ms = times[clock]["ms"]
    bandwidth = traffic.minimal / ms / 1e6
    return {
        "minimal_bytes": traffic.minimal,
        "touched_bytes": traffic.touched,
        **times,
        "clock": clock,
        "gb_per_s": bandwidth,
        "touched_gb_per_s": traffic.touched / ms / 1e6,
        "percent_of_copy": 100 * bandwidth / copy_bandwidth,
    }


def _count_slots(rows: Sequence[NDArray]) -> int:
    return sum(found.shape[1] for found in rows)


def _count_distinct(rows: Sequence[NDArray]) -> int:
    # a lot faster than numpy.unique
    return sum(int(numpy.count_nonzero(numpy.bincount(r.ravel()))) for r in rows)
