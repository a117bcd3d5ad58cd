"""`MaxoutWindowEncoder.v1` with products of fewer bits, against its own of float32."""

import copy
import pickle

import numpy as np
import pytest
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.convolution import Packed

from ..kernels.paths import Noted
from ..layers.plans import get_kept
from ..toy_embedders import replace
from .test_maxout_window_encoder import make_input, run

SETTINGS = {"width": 36, "window_size": 1, "maxout_pieces": 3, "depth": 2}
ERRORS = {"bfloat16": 0.01, "int8": 0.03}

both_precisions = pytest.mark.parametrize("precision", ERRORS)


def make(precision="float32"):
    fix_random_seed(0)
    return MaxoutWindowEncoder(**SETTINGS, precision=precision).initialize()


def get_precisions(model):
    """What products are of, of each convolution."""
    sets = compiled.kernels.INSTRUCTION_SETS
    kept = [getattr(w, "packed", w) for w in get_kept(model.attrs["weights"])]
    assert all(isinstance(packed, Packed) for packed in kept)
    return {sets[packed.instructions][1] for packed in kept}


def assert_near(actual, expected, precision):
    for Y, Z in zip(actual, expected, strict=True):
        assert Y.shape == Z.shape
        assert Y.dtype == Z.dtype
        assert abs(Y - Z).max(initial=0) < 8 * ERRORS[precision]


def run_all(models, lengths):
    """Outputs and gradients in training, of each model for the same input."""
    Xs, dYs = (make_input(models[0], lengths, seed) for seed in (0, 1))
    return [run(model, Xs, dYs, 0.5) for model in models]


@both_precisions
@pytest.mark.parametrize("lengths", [[1], [7, 0, 30], [700], []])
@pytest.mark.usefixtures("instructions")
def test_predictions_are_nearly_those_of_float32(precision, lengths):
    model, exact = make(precision), make("float32")
    Xs = make_input(model, lengths)
    assert_near(model.predict(Xs), exact.predict(Xs), precision)
    if lengths:
        assert get_precisions(model) == {precision}
        assert get_precisions(exact) == {"float32"}
        differences = [
            abs(Y - Z).max(initial=0)
            for Y, Z in zip(model.predict(Xs), exact.predict(Xs), strict=True)
        ]
        assert max(differences) > 1e-5


@both_precisions
@pytest.mark.usefixtures("instructions")
def test_training_is_in_float32(precision):
    models = make(precision), make("float32")
    for model in models:
        model.predict(make_input(model, [9]))
    for actual, expected in zip(*run_all(models, [9, 4]), strict=True):
        np.testing.assert_array_equal(actual, expected)


@both_precisions
@pytest.mark.usefixtures("instructions")
def test_packed_weights_are_never_stale(precision):
    model, exact = make(precision), make("float32")
    Xs = make_input(model, [30, 4])
    before = model.predict(Xs)[0]
    replace(model, Xs)
    exact.from_bytes(model.to_bytes())
    expected = exact.predict(Xs)
    assert not np.allclose(expected[0], before, atol=0.2)
    assert_near(model.predict(Xs), expected, precision)


@both_precisions
@pytest.mark.usefixtures("instructions")
def test_another_precision_and_other_kernels_are_seen(precision):
    """Though weights were packed before."""
    model, exact = make(precision), make("float32")
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


@both_precisions
@pytest.mark.usefixtures("no_instructions")
def test_without_instructions_it_is_float32(precision):
    models = make(precision), make()
    Xs = make_input(models[0], [30, 4])
    predicted = [model.predict(Xs) for model in models]
    for arrays in (predicted, run_all(models, [9, 4])):
        for actual, expected in zip(*arrays, strict=True):
            np.testing.assert_array_equal(actual, expected)


@both_precisions
@pytest.mark.usefixtures("instructions")
def test_copies_keep_the_precision_and_saved_weights_have_none(precision):
    model = make(precision)
    Xs = make_input(model, [7])
    expected = model.predict(Xs)[0]
    for copied in (
        model.copy(),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(copied.predict(Xs)[0], expected)
        assert get_precisions(copied) == {precision}
    exact = make("float32")
    assert model.to_bytes() == exact.to_bytes()
    exact.from_bytes(model.to_bytes())
    model.from_bytes(exact.to_bytes())
    exact.predict(Xs)
    assert get_precisions(exact) == {"float32"}
    np.testing.assert_array_equal(model.predict(Xs)[0], expected)


def test_a_precision_that_is_not_known():
    with pytest.raises(ValueError, match="'precision'"):
        make("int4")
