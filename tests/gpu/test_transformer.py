"""What is drawn for the Transformer on a GPU."""

import numpy
import pytest
from thinc.api import Adam, fix_random_seed

from ..papers.hashformers.transformers import make_layer
from ..papers.why_attention.lstms import make_batch

pytestmark = pytest.mark.torch

#: One of them is read in spans.
LENGTHS = [3, 0, 40, 1, 16]


def test_equal_seeds_give_equal_training(gpu):
    outcomes = []
    for _ in range(2):
        fix_random_seed(0)
        layer = make_layer(dropout=0.1, attention_dropout=0.1, stride=3).initialize()
        model = gpu.copy(layer)
        Xs = [gpu.array(X) for X in make_batch(LENGTHS, width=8)]
        optimizer = Adam(0.01)
        for _step in range(2):
            Ys, backprop = model.begin_update(Xs)
            backprop([gpu.ops.xp.cos(Y) for Y in Ys])
            model.finish_update(optimizer)
        outcomes.append(gpu.copy_back(model).to_bytes())
    assert outcomes[0] == outcomes[1]


def test_weights_are_drawn_and_saved_there(gpu):
    model = make_layer()
    for node in model.walk():
        node.ops = gpu.ops
    model.initialize()
    X = make_batch([5], width=8)[0]
    (Y,) = model.predict([gpu.array(X)])
    other = make_layer().from_bytes(model.to_bytes())
    numpy.testing.assert_allclose(
        gpu.get(Y), other.predict([X])[0], rtol=1e-3, atol=1e-4
    )
