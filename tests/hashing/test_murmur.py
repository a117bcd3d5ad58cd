"""Hashes of integers, on which all saved pipelines depend."""

import numpy as np
import pytest
from thinc.api import NumpyOps

from spacy_hashembeds.hashing.murmur import find_rows, hash_keys

OPS = NumpyOps()
KEYS = np.array([0, 1, 2**63 + 5, 2**64 - 1], dtype="uint64")


@pytest.mark.parametrize("seed", [0, 9, 2**32 - 1])
@pytest.mark.parametrize("num_hashes", [1, 4, 5, 9])
def test_more_than_four_hashes_use_more_seeds(seed, num_hashes):
    seeds = [(seed + i * 0x9E3779B1) % 2**32 for i in range(3)]
    expected = np.hstack([OPS.hash(KEYS, s) for s in seeds])[:, :num_hashes]
    hashes = hash_keys(OPS, KEYS, seed=seed, num_hashes=num_hashes)
    assert (hashes.dtype, hashes.flags.c_contiguous) == ("uint32", True)
    np.testing.assert_array_equal(hashes, expected)


def test_rows_are_stable_across_versions():
    rows = find_rows(OPS, KEYS, seed=9, num_hashes=6, rows=1000)
    assert rows.tolist() == [
        [173, 701, 547, 714, 800, 901],
        [518, 464, 477, 196, 823, 426],
        [908, 516, 937, 713, 355, 995],
        [815, 329, 303, 919, 392, 76],
    ]
