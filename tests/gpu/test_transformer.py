"""The Transformer on a GPU, beside the CPU."""

import numpy
import pytest
from thinc.api import Adam, fix_random_seed

from ..layers.lstms import make_batch
from ..layers.transformers import make_layer, randomise

pytestmark = pytest.mark.torch

#: One of them is read in spans.
LENGTHS = [3, 0, 40, 1, 16]


def build(**settings):
    fix_random_seed(0)
    model = make_layer(**settings).initialize()
    randomise(model)
    return model


def run(gpu, model) -> list[numpy.ndarray]:
    """One step of training: the outputs, and all gradients."""
    Ys, backprop = model.begin_update(
        [gpu.array(X) for X in make_batch(LENGTHS, width=8)]
    )
    dXs = backprop([gpu.ops.xp.cos(Y) for Y in Ys])
    grads = [model.get_grad(name) for name in model.param_names]
    return [gpu.get(array) for array in (*Ys, *dXs, *grads)]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_numbers_and_gradients_are_those_of_the_cpu(gpu, norm):
    model = build(norm=norm)
    on_gpu = gpu.copy(model)
    Ys, backprop = model.begin_update(Xs := make_batch(LENGTHS, width=8))
    dXs = backprop([numpy.cos(Y) for Y in Ys])
    expected = [*Ys, *dXs, *(model.get_grad(name) for name in model.param_names)]
    for array, other in zip(run(gpu, on_gpu), expected, strict=True):
        numpy.testing.assert_allclose(array, other, rtol=1e-3, atol=1e-3)
    predicted = on_gpu.predict([gpu.array(X) for X in Xs])
    for array, other in zip(predicted, Ys, strict=True):
        numpy.testing.assert_allclose(gpu.get(array), other, rtol=1e-3, atol=1e-3)


def test_equal_seeds_give_equal_training(gpu):
    outcomes = []
    for _ in range(2):
        model = gpu.copy(build(dropout=0.1, attention_dropout=0.1, stride=3))
        fix_random_seed(1)
        for _step in range(2):
            run(gpu, model)
            model.finish_update(Adam(0.01))
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
