"""How sequences are packed, beside PyTorch and one sequence at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.kernels.packing import pack, split

LENGTHS = st.lists(st.integers(0, 6), max_size=8)


SIZES = st.sampled_from([None, 1, 2, 3])


@given(LENGTHS, SIZES)
def test_packed_rows_are_the_tokens_step_by_step(lengths, block_size):
    packing = pack(lengths, block_size)
    tokens = split(np.arange(sum(lengths)), lengths)
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    order = [i for i in order if lengths[i]]
    n = block_size or max(1, len(order))
    rows, sequences, batch_sizes = [], [], []
    for block in (order[i : i + n] for i in range(0, len(order), n)):
        steps = [[i for i in block if lengths[i] > t] for t in range(lengths[block[0]])]
        batch_sizes.append([len(step) for step in steps])
        sequences += [i for step in steps for i in step]
        rows += [tokens[i][t] for t, step in enumerate(steps) for i in step]
    assert [sizes.tolist() for sizes in packing.batch_sizes] == batch_sizes
    assert packing.sequences.tolist() == sequences
    assert packing.rows.tolist() == rows
    assert packing.rows[packing.places].tolist() == list(range(sum(lengths)))


@given(LENGTHS, SIZES)
def test_each_sequence_is_reversed_in_its_place(lengths, block_size):
    packing = pack(lengths, block_size)
    backwards = packing.rows[packing.backwards][packing.places]
    expected = [tokens[::-1] for tokens in split(np.arange(sum(lengths)), lengths)]
    assert backwards.tolist() == [i for tokens in expected for i in tokens]


def test_packing_is_pytorch_s():
    torch = pytest.importorskip("torch")
    lengths = [3, 1, 4, 1, 5]
    tokens = [torch.tensor(part) for part in split(np.arange(14), lengths)]
    theirs = torch.nn.utils.rnn.pack_sequence(tokens, enforce_sorted=False)
    ours = pack(lengths)
    (batch_sizes,) = ours.batch_sizes
    assert batch_sizes.tolist() == theirs.batch_sizes.tolist()
    assert sorted(ours.rows[:5].tolist()) == sorted(theirs.data[:5].tolist())
    assert ours.rows[-1] == theirs.data[-1]
