"""Codes of values, and which values can't be told apart by them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...kernels.distinct import MAX_COLUMNS, find_distinct

#: Hashes depend on each other: "Seed 8" in docs/analyze.md.
DEGENERATE_SEED = 8
SOUND_SEED = 9


def find_known(values: NDArray, known: NDArray) -> NDArray:
    """Return which values are known. *Shapes:* `(n,)`, `(m,)`, uint64; `(n,)`, bool."""
    # with a table, which it may choose by itself, numpy 2.0 fails from 2**63 on
    return np.isin(values, known, kind="sort")


def count_sharing(codes: NDArray) -> int:
    """Count the codes that another one equals. *Shape:* `(n, columns)`, uint64."""
    if len(codes) == 0:
        return 0
    sizes = np.bincount(_number(codes))
    return int(sizes[sizes > 1].sum())


def join_codes(codes: Iterable[NDArray]) -> NDArray:
    """Join words' codes in tables, `(n, columns)` each, n > 0, to `(n, tables)`,
    whose rows are equal where the codes are in each table.
    """
    return np.stack([_number(code) for code in codes], axis=1).astype("uint64")


def _number(codes: NDArray) -> NDArray:
    """Number codes, equal ones alike. *Shape:* `(n, columns)` to `(n,)`, n > 0."""
    while codes.shape[1] > MAX_COLUMNS:  # there may be any number of hashes
        first, rest = codes[:, :MAX_COLUMNS], codes[:, MAX_COLUMNS:]
        codes = np.column_stack([_number(first).astype("uint64"), rest])
    return find_distinct(codes).copies
