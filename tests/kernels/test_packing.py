"""How sequences are packed, beside PyTorch and one sequence at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.kernels.packing import pack, split

LENGTHS = st.lists(st.integers(0, 6), max_size=8)


@given(LENGTHS)
def test_packed_rows_are_the_tokens_step_by_step(lengths):
    packing = pack(lengths)
    tokens = split(np.arange(sum(lengths)), lengths)
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    longest = max(lengths, default=0)
    steps = [[i for i in order if lengths[i] > step] for step in range(longest)]
    assert packing.batch_sizes.tolist() == [len(step) for step in steps]
    assert packing.sequences.tolist() == [i for step in steps for i in step]
    expected = [tokens[i][step] for step, docs in enumerate(steps) for i in docs]
    assert packing.rows.tolist() == expected
    assert packing.rows[packing.places].tolist() == list(range(sum(lengths)))


@given(LENGTHS)
def test_each_sequence_is_reversed_in_its_place(lengths):
    packing = pack(lengths)
    backwards = packing.rows[packing.backwards][packing.places]
    expected = [tokens[::-1] for tokens in split(np.arange(sum(lengths)), lengths)]
    assert backwards.tolist() == [i for tokens in expected for i in tokens]


def test_packing_is_pytorch_s():
    torch = pytest.importorskip("torch")
    lengths = [3, 1, 4, 1, 5]
    tokens = [torch.tensor(part) for part in split(np.arange(14), lengths)]
    theirs = torch.nn.utils.rnn.pack_sequence(tokens, enforce_sorted=False)
    ours = pack(lengths)
    assert ours.batch_sizes.tolist() == theirs.batch_sizes.tolist()
    assert sorted(ours.rows[:5].tolist()) == sorted(theirs.data[:5].tolist())
    assert ours.rows[-1] == theirs.data[-1]
