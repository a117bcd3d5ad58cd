"""Common tests of layers with PyTorch's arithmetic."""

import multiprocessing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import fix_random_seed
from thinc.compat import torch

from spacy_hashembeds.layers import torchlayer
from spacy_hashembeds.layers.torchlayer import MAX_PADDING, group_by_length

from ..contract import IN_TORCH
from ..papers.definitions import make_batch, run

NAMES = [name for name in IN_TORCH if "," not in name]


@pytest.mark.parametrize(
    ("lengths", "max_rows", "sizes"),
    [
        ([100, 100], 200, [2]),
        ([100, 100], 199, [1, 1]),
        ([64, 64, 1], 1000, [2, 1]),  # too much padding, at least 128 rows
        ([63, 63, 1], 1000, [3]),
    ],
)
def test_limits_of_groups_are_inclusive(lengths, max_rows, sizes):
    assert [len(group) for group in group_by_length(lengths, max_rows, 128)] == sizes


@given(
    lengths=st.lists(st.integers(1, 60), max_size=300),
    max_rows=st.sampled_from([1, 200, 10**6]),
    fewest=st.sampled_from([1, 128]),
)
def test_group_sizes_and_padding(lengths, max_rows, fewest):
    groups = [g.tolist() for g in group_by_length(lengths, max_rows, fewest)]
    order = [number for group in groups for number in group]
    assert order == sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for group in groups:
        longest, tokens = lengths[group[0]], sum(lengths[n] for n in group)
        n_rows = longest * len(group)
        assert n_rows <= max_rows or len(group) == 1
        assert n_rows - tokens <= max(MAX_PADDING * n_rows, fewest + longest)


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_max_rows_keeps_results(name, monkeypatch):
    Xs, shapes, outcomes = make_batch([9, 2, 0, 40, 5, 5], width=12), [], []
    fix_random_seed(0)
    dropped = {"dropout": 0.35} if name == "CrossBiLSTMEncoder" else {}
    model = IN_TORCH[name].make(**dropped).initialize(X=Xs)

    class Group(torchlayer.Group):
        def __init__(self, *args):
            super().__init__(*args)
            shapes.append(tuple(self.rows.shape))

    monkeypatch.setattr(torchlayer, "Group", Group)
    for max_rows in (2**12, 20):
        monkeypatch.setattr(torchlayer, "MAX_GROUP_ROWS", max_rows)
        shapes.clear()
        fix_random_seed(2)  # of masks
        outcomes.append(np.concatenate([*map(np.ravel, run(model, Xs))]))
    whole = [(1, 16)] * 4 if name == "TransformerEncoder" else [(1, 40)]
    assert shapes[: len(whole) + 2] == [*whole, (2, 9), (2, 5)]
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-3, atol=1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_without_pytorch_the_error_names_the_extra(name, monkeypatch):
    monkeypatch.setattr(torchlayer, "find_spec", lambda module: None)
    with pytest.raises(ImportError, match=rf"{name}\.v1.*\[torch\]"):
        IN_TORCH[name].make()


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_can_compute():
    """Forked processes lack the threads of PyTorch."""
    torch.set_num_threads(2)
    Xs = make_batch([300] * 8, width=64)
    model = IN_TORCH["BiLSTMEncoder"].make(width=64, depth=1).initialize(X=Xs)
    model.predict(Xs)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=model.predict, args=(Xs,))
    process.start()
    process.join(60)
    process.kill()  # if deadlocked
    process.join()
    torch.set_num_threads(1)
    assert process.exitcode == 0
