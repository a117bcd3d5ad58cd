"""Hash integers to rows of a table by MurmurHash3."""

from typing import Any

from thinc.api import Ops

#: MurmurHash3_x64_128 gives 128 bits, which `Ops.hash` cuts into four uint32.
MAX_HASHES = 4

# Odd, so that 2³² steps give distinct seeds; large, since the seeds of a model's tables
# differ by small numbers.
_SEED_STEP = 0x9E3779B1


def find_rows(ops: Ops, ids: Any, *, seed: int, num_hashes: int, rows: int) -> Any:
    """Find the rows of each integer in a table: its hashes modulo `rows`."""
    return hash_keys(ops, ids, seed=seed, num_hashes=num_hashes) % rows


def get_seed(seed: int, i: int) -> int:
    """Get the seed of the i-th group of four hashes, counted from 0."""
    return (seed + i * _SEED_STEP) % 2**32


def hash_keys(ops: Ops, ids: Any, *, seed: int, num_hashes: int) -> Any:
    """Hash each integer `num_hashes` times, with a new seed for every four hashes.

    *Shapes:* `(n,)` to `(n, num_hashes)`, uint32; int32 if there are no integers.
    """
    if len(ids) == 0:
        return ops.alloc2i(0, num_hashes)
    keys = ops.as_contig(ids, dtype="uint64")
    n_hashings = -(-num_hashes // MAX_HASHES)
    hashes = ops.hash(keys, seed)
    if n_hashings > 1:
        more = [ops.hash(keys, get_seed(seed, i)) for i in range(1, n_hashings)]
        hashes = ops.xp.concatenate([hashes, *more], axis=1)
    if num_hashes < hashes.shape[1]:
        hashes = ops.as_contig(hashes[:, :num_hashes])
    return hashes
