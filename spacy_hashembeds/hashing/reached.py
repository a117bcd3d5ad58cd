"""How many rows a table may have for hashing to reach them all."""

from math import exp

import numpy as np
from numpy.typing import NDArray

# Where chance leaves so many rows without a hash, on average, it leaves none in one of
# 160,000 cases: what is searched begins here.
_MOST_MISSED = 12


def count_reached_rows(hashes: NDArray, most: int) -> int:
    """Count the rows of the largest table whose rows are all reached.

    A row is reached if it is some hash modulo the number of rows. The largest number is
    searched downwards, from where so many rows are reached by chance once in a hundred
    thousand times: a larger one that also would do is missed no more than once in a
    thousand tables.

    hashes (NDArray): Any shape, uint32, one or more.
    most (int): The most rows that the table may have, 1 or more.
    """
    distinct = np.unique(hashes)
    rows = _find_start(len(distinct), most)
    while not _are_reached(distinct, rows):
        rows -= 1
    return rows


def _are_reached(hashes: NDArray, rows: int) -> bool:
    is_reached = np.zeros(rows, dtype=bool)
    # numpy marks by its own integers fastest
    is_reached[(hashes % np.uint32(rows)).astype(np.intp)] = True
    return bool(is_reached.all())


def _find_start(n_hashes: int, most: int) -> int:
    """Find the most rows of which hashes miss few: n hashes miss r·exp(-n/r) of r."""
    low, high = 1, min(most, n_hashes)
    while low < high:
        middle = (low + high + 1) // 2
        if middle * exp(-n_hashes / middle) <= _MOST_MISSED:
            low = middle
        else:
            high = middle - 1
    return low
