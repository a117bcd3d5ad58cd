"""What layers with PyTorch's arithmetic have in common."""

import multiprocessing
from collections.abc import Iterator

import pytest
from thinc.api import fix_random_seed
from thinc.compat import torch

from spacy_hashembeds.layers.bilstm import BiLSTM

from .lstms import make_batch

pytestmark = pytest.mark.torch


@pytest.fixture
def several_threads() -> Iterator[None]:
    """Have PyTorch compute with several threads, whatever the environment says."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("several_threads")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_can_compute():
    """They have none of the threads that their parent has computed with."""
    fix_random_seed(0)
    Xs = make_batch([300] * 8, width=64)
    model = BiLSTM(64, depth=1, is_crossed=False, dropout=0.0).initialize(X=Xs)
    model.predict(Xs)
    process = multiprocessing.get_context("fork").Process(
        target=model.predict, args=(Xs,)
    )
    process.start()
    process.join(60)
    is_stuck = process.is_alive()
    process.kill()
    process.join()
    assert not is_stuck
    assert process.exitcode == 0
