"""Distinct keys of a batch, and gathering of their values for all copies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import compiled
from .rows import get_kernels_for, lay_out_array, scatter_add

#: Maximum number of columns of keys.
MAX_COLUMNS = 64

# Odd, so that no bit of a key is lost. Constant, for reproducible paths.
_MULTIPLIERS = (
    np.random.default_rng(0).integers(2**63, size=MAX_COLUMNS, dtype="uint64") * 2 + 1
)


@dataclass(frozen=True)
class Distinct:
    """The `m` distinct values of `n` keys, and the index of each key's value.

    *Shapes:* values `(m,)` or `(m, columns)`; copies `(n,)`, int32.
    """

    values: NDArray
    copies: NDArray

    def gather(self, Y: NDArray) -> NDArray:
        """Map each key to the row of its value. *Shape:* `(m, w)` to `(n, w)`."""
        return Y.take(self.copies, axis=0)

    def scatter_add(self, dY: NDArray) -> NDArray:
        """Backpropagate `gather`. *Shape:* `(n, w)` to `(m, w)`, float32."""
        summed = np.zeros((len(self.values), dY.shape[1]), dtype="float32")
        scatter_add(summed, self.copies[:, None], dY)
        return summed


def find_distinct(keys: NDArray) -> Distinct:
    """Find the distinct keys, in the order of their first occurrence.

    *Shape:* `(n,)`, of any sortable dtype, or `(n, columns)`, integers in at most 64
    columns; n > 0.
    """
    if compiled.kernels is not None and (keys.ndim == 2 or keys.dtype == "uint64"):
        rows = lay_out_array(keys.reshape(len(keys), -1), "uint64")
        firsts, copies = compiled.kernels.find_distinct(rows)
    elif keys.ndim == 2:
        firsts, copies = _find_row_copies(keys.astype("uint64", copy=False))
    else:
        firsts, copies = _find_copies(keys)
    return Distinct(keys[firsts], copies)


def find_equal_rows(X: NDArray, most: int) -> Distinct | None:
    """Find bitwise distinct rows, or return None if there are more than `most`.

    Rows are grouped by their first numbers, two in numpy and four in the kernel, and
    then compared as a whole. Also return None if rows of a group differ (numpy), or too
    many do (kernel). *Shape:* `(n, w)`, n > 0, float32.
    """
    if X.shape[1] < 2:
        return None
    kernels = get_kernels_for(X)
    if kernels is not None:
        found = kernels.find_equal_rows(X, most)
        return None if found is None else Distinct(X[found[0]], found[1])
    firsts, copies = _find_copies(X[:, :2].copy().view("uint64")[:, 0])
    if len(firsts) > most:
        return None
    distinct = Distinct(X[firsts], copies)
    gathered = distinct.gather(distinct.values).view("uint32")
    return distinct if np.array_equal(gathered, X.view("uint32")) else None


def _find_row_copies(rows: NDArray) -> tuple[NDArray, NDArray]:
    """Run `_find_copies` for rows of uint64."""
    # hash each row to one number: one sort is much faster than a sort per column
    mixed = rows[:, 0] * _MULTIPLIERS[0]
    for column in range(1, rows.shape[1]):
        mixed ^= mixed >> np.uint64(29)
        mixed += rows[:, column]
        mixed *= _MULTIPLIERS[column]
    firsts, copies = _find_copies(mixed)
    if np.array_equal(rows[firsts].take(copies, axis=0), rows):
        return firsts, copies
    # hash collision
    _, firsts, groups = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return _number_by_place(firsts, groups.reshape(-1))


def _find_copies(keys: NDArray) -> tuple[NDArray, NDArray]:
    """Return the index of the first of equal keys, and the group of each key."""
    order = keys.argsort()
    in_order = keys[order]
    is_new = np.empty(len(keys), dtype=bool)
    is_new[0] = True
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    groups = np.empty(len(keys), dtype="int64")
    groups[order] = is_new.cumsum() - 1
    firsts = np.minimum.reduceat(order, is_new.nonzero()[0])
    return _number_by_place(firsts, groups)


def _number_by_place(firsts: NDArray, groups: NDArray) -> tuple[NDArray, NDArray]:
    """Renumber groups of equal keys in the order of their first keys."""
    by_place = firsts.argsort()
    numbers = np.empty(len(firsts), dtype="int32")
    numbers[by_place] = np.arange(len(firsts), dtype="int32")
    return firsts[by_place], numbers[groups]
