"""Largest tables of which hashing reaches every row."""

from bisect import bisect_right
from math import exp, log1p

import numpy as np
from numpy.typing import NDArray

#: Of so many hashes the largest table is found, in half a second. Of more, the time
#: would grow with the square of their number.
_MOST_SEARCHED = 100_000

# Where chance leaves so many rows without a hash, on average, it leaves none in one of
# 160,000 cases: what is searched begins here.
_MOST_MISSED = 12

#: How many hashes are put into tables, on average, where there are more: that takes no
#: longer.
_WORK = 100_000_000


def count_reached_rows(hashes: NDArray, most: int) -> int:
    """Count the rows of the largest table, of up to `most`, that are all reached.

    A row is reached if it is some hash (uint32) modulo the number of rows. Searched
    downwards, from where chance reaches so many once in a hundred thousand times: a
    larger table is missed at most once in a thousand. Of more than 100,000 hashes the
    search begins lower, to end within seconds: up to a tenth more rows might have done.
    """
    # numpy's `unique` takes a hundred times as long for some millions
    ordered = np.sort(hashes, axis=None)
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    rows = _find_start(len(distinct), most)
    while not _are_reached(distinct, rows):
        rows -= 1
    return rows


def _are_reached(hashes: NDArray, rows: int) -> bool:
    return bool(np.bincount(hashes % np.uint32(rows), minlength=rows).all())


def _find_start(n_hashes: int, most: int) -> int:
    """Find the most rows of which hashes miss few: n hashes miss r·exp(-n/r) of r."""
    most_missed: float = _MOST_MISSED
    if n_hashes > _MOST_SEARCHED:
        # where m are missed on average, one of exp(m) tables misses none: so many are
        # tried
        most_missed = log1p(_WORK / n_hashes)

    def count_missed(rows: int) -> float:
        return rows * exp(-n_hashes / rows)

    larger = range(2, min(most, n_hashes) + 1)
    return 1 + bisect_right(larger, most_missed, key=count_missed)
