"""How sequences are packed, beside PyTorch and one sequence at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_hashembeds.kernels import packing as module
from spacy_hashembeds.kernels.packing import cut, pack, split

LENGTHS = st.lists(st.integers(0, 6), max_size=8)


def order(lengths):
    """The sequences that have tokens, the longest first."""
    found = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return [i for i in found if lengths[i]]


def pack_in_blocks_of(size, lengths, *, is_padded=True):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALLEST_BLOCK", size)
        patch.setattr(module, "LARGEST_BLOCK", size)
        patch.setattr(module, "MOST_PADDED", 10)
        return pack(lengths, is_padded=is_padded)


@given(LENGTHS)
def test_packed_rows_are_the_tokens_step_by_step(lengths):
    packing = pack(lengths, is_padded=False)
    tokens = split(np.arange(sum(lengths)), lengths)
    steps = [[i for i in order(lengths) if lengths[i] > t] for t in range(6)]
    steps = [step for step in steps if step]
    rows = [tokens[i][t] for t, step in enumerate(steps) for i in step]
    assert packing.rows.tolist() == rows
    assert packing.rows[packing.places].tolist() == list(range(sum(lengths)))
    for block in packing.blocks:
        assert block.batch_sizes.tolist() == [len(step) for step in steps]
        assert block.sequences.tolist() == [i for step in steps for i in step]
    assert len(packing.blocks) == bool(rows)


@given(LENGTHS, st.integers(1, 3))
def test_padded_rows_are_as_many_in_each_step(lengths, size):
    packing = pack_in_blocks_of(size, lengths)
    tokens = split(np.arange(sum(lengths)), lengths)
    found = order(lengths)
    parts = [found[i : i + size] for i in range(0, len(found), size)]
    rows = [
        tokens[i][min(t, lengths[i] - 1)]
        for part in parts
        for t in range(lengths[part[0]])
        for i in part
    ]
    assert packing.rows.tolist() == rows
    assert packing.rows[packing.places].tolist() == list(range(sum(lengths)))
    for part, block in zip(parts, packing.blocks, strict=True):
        assert block.sequences.tolist() == part
        assert block.batch_sizes.tolist() == [
            sum(lengths[i] > t for i in part) for t in range(lengths[part[0]])
        ]


@given(LENGTHS, st.integers(1, 3), st.booleans())
def test_each_sequence_is_reversed_in_its_place(lengths, size, is_padded):
    packing = pack_in_blocks_of(size, lengths, is_padded=is_padded)
    start, turned = 0, []
    for block in packing.blocks:
        n = len(block.backwards)
        turned.append(packing.rows[start : start + n][block.backwards])
        np.testing.assert_array_equal(
            block.backwards[block.backwards], np.arange(n), strict=True
        )
        start += n
    rows = np.concatenate([np.zeros(0, dtype="int64"), *turned])
    expected = [tokens[::-1] for tokens in split(np.arange(sum(lengths)), lengths)]
    assert rows[packing.places].tolist() == [i for tokens in expected for i in tokens]


@given(st.lists(st.integers(1, 500), max_size=400))
@example([9] * 400)
@example([36, 9])  # padded to just so many times its length
def test_blocks_have_sequences_of_similar_length(lengths):
    lengths = sorted(lengths, reverse=True)
    cuts = [0, *cut(lengths), len(lengths)]
    blocks = [lengths[start:end] for start, end in pairwise(cuts)]
    assert [length for block in blocks for length in block] == lengths
    for block, following in pairwise(blocks):
        size = max(16, min(64, len(lengths) // 4))
        assert block[0] <= 4 * block[-1]
        assert len(block) == size or block[0] > 4 * following[0]
