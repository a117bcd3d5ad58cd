"""Keys of tokens by their attributes, for tables of what was computed of these."""

from typing import Any

import numpy as np


def make_keys(attributes: Any) -> list[bytes]:
    """Make a key of each token's attributes: their bytes, which are smaller than a
    tuple, and faster.

    attributes (uint64 array): What `Doc.to_array` gives. *Shape:* `(n, n_attributes)`.
    """
    rows = np.ascontiguousarray(attributes)
    # numpy takes null bytes off the end, which still tells rows of one length apart
    return rows.view(f"S{rows.itemsize * rows.shape[1]}").ravel().tolist()
