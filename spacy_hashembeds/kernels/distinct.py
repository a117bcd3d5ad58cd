"""Compute something once for each distinct key, and gather it for the copies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import compiled
from .sums import scatter_add

#: How many columns a row of keys can have.
MAX_COLUMNS = 64

# Odd, so that no bit of a key is lost, and otherwise arbitrary. Fixed, so that equal
# input takes equal paths.
_MULTIPLIERS = (
    np.random.default_rng(0).integers(2**63, size=MAX_COLUMNS, dtype="uint64") * 2 + 1
)


@dataclass(frozen=True)
class Distinct:
    """Which of `n` keys are copies of which of `m` distinct ones.

    values (NDArray): The distinct keys. *Shape:* `(m,)` or `(m, columns)`.
    copies (NDArray): For each key the index of its value. *Shape:* `(n,)`, int32.
    """

    values: NDArray
    copies: NDArray

    def gather(self, Y: NDArray) -> NDArray:
        """Give each key the row of its value. *Shape:* `(m, w)` to `(n, w)`."""
        return Y.take(self.copies, axis=0)

    def scatter_add(self, dY: NDArray) -> NDArray:
        """Sum the rows of equal keys: backpropagates `gather`.

        *Shape:* `(n, w)` to `(m, w)`, float32.
        """
        summed = np.zeros((len(self.values), dY.shape[1]), dtype="float32")
        scatter_add(summed, self.copies[:, None], dY)
        return summed


def find_distinct(keys: NDArray) -> Distinct:
    """Find the distinct among keys of any kind that sorts, in the order they come in.

    *Shape:* `(n,)`, n > 0.
    """
    if keys.dtype == "uint64" and compiled.kernels is not None:
        firsts, copies = _find_compiled(keys.reshape(-1, 1))
    else:
        firsts, copies = _find_copies(keys)
    return Distinct(keys[firsts], copies)


def find_distinct_rows(rows: NDArray) -> Distinct:
    """Find the distinct among rows of unsigned 64-bit integers, as `find_distinct`.

    Compiled, each row is looked for in a hash map. In numpy, it is mixed to one number,
    since one sort is a lot faster than one for each column, and then it is checked that
    no two different rows had the same number.

    *Shape:* `(n, columns)`, n > 0 and at most 64 columns.
    """
    if compiled.kernels is not None:
        firsts, copies = _find_compiled(rows)
        return Distinct(rows[firsts], copies)
    mixed = rows[:, 0] * _MULTIPLIERS[0]
    for column in range(1, rows.shape[1]):
        mixed ^= mixed >> np.uint64(29)
        mixed += rows[:, column]
        mixed *= _MULTIPLIERS[column]
    firsts, copies = _find_copies(mixed)
    found = Distinct(rows[firsts], copies)
    if np.array_equal(found.gather(found.values), rows):
        return found
    _, firsts, groups = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    firsts, copies = _number_by_place(firsts, groups.reshape(-1))
    return Distinct(rows[firsts], copies)


def find_equal_rows(X: NDArray, most: int) -> Distinct | None:
    """Find the distinct among rows of numbers, bit for bit.

    Rows are told apart by their first numbers alone, two in numpy and four compiled,
    and compared by all.

    X (NDArray): *Shape:* `(n, w)`, n > 0, float32.
    most (int): How many may be distinct.
    RETURNS (Distinct, optional): None if there are more, or if that is not enough to
        tell them apart.
    """
    if X.shape[1] < 2:
        return None
    kernels = compiled.get_for(X)
    if kernels is not None:
        found = kernels.find_equal_rows(X, most)
        return None if found is None else Distinct(X[found[0]], found[1])
    firsts, copies = _find_copies(X[:, :2].copy().view("uint64")[:, 0])
    if len(firsts) > most:
        return None
    distinct = Distinct(X[firsts], copies)
    gathered = distinct.gather(distinct.values).view("uint32")
    return distinct if np.array_equal(gathered, X.view("uint32")) else None


def _find_compiled(rows: NDArray) -> tuple[NDArray, NDArray]:
    """Say which rows are the first of their kind, and which is a copy of which."""
    return compiled.kernels.find_distinct(compiled.lay_out(rows, "uint64"))


def _find_copies(keys: NDArray) -> tuple[NDArray, NDArray]:
    """Say the same of keys of any kind that sorts, by sorting them."""
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
    """Number groups of equal keys, by the first key of each, in their order."""
    by_place = firsts.argsort()
    numbers = np.empty(len(firsts), dtype="int32")
    numbers[by_place] = np.arange(len(firsts), dtype="int32")
    return firsts[by_place], numbers[groups]
