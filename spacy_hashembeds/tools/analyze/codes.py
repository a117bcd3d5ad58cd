"""Codes of values, and which values can't be told apart by them."""

import numpy as np
from numpy.typing import NDArray

from ...kernels.distinct import MAX_COLUMNS, find_distinct

#: Hashes depend on each other: "Seed 8" in docs/analyze.md.
DEGENERATE_SEED = 8
SOUND_SEED = 9


def count_sharing(codes: NDArray) -> int:
    """Count the codes that another one equals. *Shape:* `(n, columns)`, uint64."""
    if len(codes) == 0:
        return 0
    while codes.shape[1] > MAX_COLUMNS:  # there may be any number of hashes
        numbers = find_distinct(codes[:, :MAX_COLUMNS]).copies.astype("uint64")
        codes = np.column_stack([numbers, codes[:, MAX_COLUMNS:]])
    sizes = np.bincount(find_distinct(codes).copies)
    return int(sizes[sizes > 1].sum())
