"""`MaxoutWindowEncoder.v1` with products of fewer bits, against its own of float32."""

import copy
import pickle

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels import compiled

from ..kernels.paths import Noted
from ..layers.plans import get_kept
from .test_maxout_window_encoder import make_input, run

SETTINGS = {"width": 36, "window_size": 1, "maxout_pieces": 3, "depth": 2}
ERRORS = {"bfloat16": 0.01, "int8": 0.03}


@pytest.fixture(params=ERRORS)
def precision(request) -> str:
    return request.param


def make(precision="float32"):
    fix_random_seed(0)
    return MaxoutWindowEncoder(**SETTINGS, precision=precision).initialize()


def get_precisions(model):
    """What products are of, of each convolution."""
    sets = compiled.kernels.INSTRUCTION_SETS
    kept = [getattr(w, "packed", w) for w in get_kept(model.attrs["weights"])]
    return {sets[packed.instructions][1] for packed in kept}


def assert_all_equal(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("lengths", [[1], [7, 0, 30], [700]])
@pytest.mark.usefixtures("instructions")
def test_predictions_are_nearly_those_of_float32(precision, lengths):
    model, exact = make(precision), make()
    Xs, differences = make_input(model, lengths), []
    for Y, Z in zip(model.predict(Xs), exact.predict(Xs), strict=True):
        assert (Y.shape, Y.dtype) == (Z.shape, Z.dtype)
        differences.append(abs(Y - Z).max(initial=0))
    assert 1e-5 < max(differences) < 8 * ERRORS[precision]
    assert get_precisions(model) == {precision}
    assert get_precisions(exact) == {"float32"}


@pytest.mark.parametrize("fixture", ["instructions", "no_instructions"])
def test_training_is_in_float32_and_so_is_all_without_instructions(
    precision, fixture, request
):
    request.getfixturevalue(fixture)
    models = make(precision), make()
    Xs, dYs = (make_input(models[0], [9, 4], seed) for seed in (0, 1))
    predicted = [model.predict(Xs) for model in models]
    assert_all_equal(*(run(model, Xs, dYs, 0.5) for model in models))
    if fixture == "no_instructions":
        assert_all_equal(*predicted)


@pytest.mark.usefixtures("instructions")
def test_another_precision_and_other_kernels_are_seen(precision):
    """Though weights were packed before."""
    model, exact = make(precision), make()
    Xs = make_input(model, [30])
    packed, expected = model.predict(Xs)[0], exact.predict(Xs)[0]
    weights = model.attrs["weights"]
    weights.precision = "float32"
    np.testing.assert_array_equal(model.predict(Xs)[0], expected)
    weights.precision = precision
    np.testing.assert_array_equal(model.predict(Xs)[0], packed)
    with compiled.using(noted := Noted(compiled.kernels)):
        np.testing.assert_array_equal(model.predict(Xs)[0], packed)
    assert "add_convolved" in noted.names
    with compiled.using(None):
        assert abs(model.predict(Xs)[0] - expected).max() < 1e-5


@pytest.mark.parametrize(
    "duplicate", [Model.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
@pytest.mark.usefixtures("instructions")
def test_copies_keep_the_precision_and_saved_weights_have_none(precision, duplicate):
    model, exact = make(precision), make()
    Xs = make_input(model, [7])
    expected = model.predict(Xs)
    copied = duplicate(model)
    assert_all_equal(copied.predict(Xs), expected)
    assert get_precisions(copied) == {precision}
    assert model.to_bytes() == exact.to_bytes()
    assert_all_equal(copied.from_bytes(exact.to_bytes()).predict(Xs), expected)


def test_a_precision_that_is_not_known():
    with pytest.raises(ValueError, match="'precision'"):
        make("int4")
