"""Rows of a table for integers, by MurmurHash3."""

from typing import Any

from thinc.api import Ops

#: MurmurHash3_x64_128 gives 128 bits, which `Ops.hash` cuts into four uint32.
MAX_HASHES = 4


def find_rows(ops: Ops, ids: Any, *, seed: int, num_hashes: int, rows: int) -> Any:
    """Find the rows of each integer: row k of x is `murmur(x, seed)[k] % rows`.

    ids (Any): An array of integers, of the backend that `ops` are of. *Shape:* `(n,)`.
    seed (int): The hash seed, an unsigned 32-bit integer.
    num_hashes (int): How many rows each gets, 1 to 4.
    rows (int): Rows of the table.
    RETURNS (Any): *Shape:* `(n, num_hashes)`, uint32; int32 if there are no integers.
    """
    if len(ids) == 0:
        return ops.alloc2i(0, num_hashes)
    keys = ops.hash(ops.as_contig(ids, dtype="uint64"), seed)
    if num_hashes < MAX_HASHES:
        keys = ops.as_contig(keys[:, :num_hashes])
    return keys % rows
