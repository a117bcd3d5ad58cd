"""Our Adam against Thinc's, bit for bit."""

import platform
from inspect import signature

import numpy as np
import pytest
from spacy.util import registry
from thinc.api import Adam as ThincAdam
from thinc.api import warmup_linear

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.training.optimizers import Adam

from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels

# elsewhere, Thinc may be compiled to round a product and a sum at once
is_x86 = platform.machine() in ("x86_64", "AMD64")

KEY = (1, "W")

SETTINGS = {
    "defaults": {},
    "spacy": {"learn_rate": 0.01, "L2": 0.01, "grad_clip": 1.0, "use_averages": True},
    "neither": {"use_averages": False},
    "no clipping": {"grad_clip": 0.0},
    "integers": {"learn_rate": 1, "L2": 1},
    "other betas": {"beta1": 0.5, "beta2": 0.7, "eps": 1e-3},
}
#: What runs in Thinc.
OTHERS = {
    "L2 of the gradient": {"L2": 0.1, "L2_is_weight_decay": False},
    "numpy's learn_rate": {"learn_rate": np.float64(0.01)},
    "numpy's grad_clip": {"grad_clip": np.float64(1 / 3)},
    "SGD": {"beta1": 0.0, "beta2": 0.0},
}


def optimize(optimizer, shape=(31, 7), n_steps=20, n_before=0):
    """Optimise made-up gradients of all sizes; give all that is there afterwards."""
    state = np.random.default_rng(0)
    weights = state.normal(size=shape).astype("f")
    optimizer.nr_update[KEY] = n_before
    for _ in range(n_steps):
        scale = 10 ** state.uniform(-6, 1)
        gradient = (state.normal(size=shape) * scale).astype("f")
        weights, gradient = optimizer(KEY, weights, gradient, lr_scale=0.5)
        optimizer.step_schedules()
        assert not gradient.any()
    kept = (optimizer.mom1, optimizer.mom2, optimizer.averages or {})
    return [weights, *(each[KEY] for each in kept if KEY in each)]


def assert_equal(ours, theirs):
    for array, expected in zip(ours, theirs, strict=True):
        assert array.dtype == expected.dtype
        assert array.shape == expected.shape
        if is_x86:
            np.testing.assert_array_equal(array, expected)
        else:
            np.testing.assert_allclose(array, expected, rtol=1e-5)


@both_paths
@pytest.mark.parametrize("settings", [*SETTINGS.values(), *OTHERS.values()], ids=str)
def test_it_gives_the_bits_of_thincs(settings, kernels):
    with compiled.using(kernels):
        ours = optimize(Adam(**settings))
    assert_equal(ours, optimize(ThincAdam(**{"use_averages": True, **settings})))


@both_paths
@pytest.mark.parametrize(
    "changes",
    [
        *({"shape": shape} for shape in ((1,), (0, 3), (2, 3, 4))),
        # Thinc has averages of many steps keep no more than a certain share
        {"n_before": 10**6},
    ],
    ids=str,
)
def test_parameters_of_any_shape_and_age(kernels, changes):
    with compiled.using(kernels):
        ours = optimize(Adam(warmup_linear(0.001, 5, 15), L2=0.01), **changes)
    theirs = ThincAdam(warmup_linear(0.001, 5, 15), L2=0.01, use_averages=True)
    assert_equal(ours, optimize(theirs, **changes))


@needs_kernels
def test_one_pass_is_taken_where_it_can_be():
    for settings in (*SETTINGS.values(), *OTHERS.values()):
        with compiled.using(noted := Noted(KERNELS)):
            optimize(Adam(**settings))
        is_taken = settings in SETTINGS.values()
        assert noted.names == (["step_adam"] * 20 if is_taken else [])


@both_paths
@pytest.mark.parametrize("step", [1, 2])
def test_gradients_that_are_no_numbers_are_not_clipped(kernels, step):
    """Nor are they in arrays with gaps."""
    found = []
    for make in (Adam, ThincAdam):
        weights = np.ones((6, 2), dtype="f")[::step]
        gradient = np.full_like(weights, 0.5)
        gradient[0, 1] = np.nan
        with compiled.using(kernels):
            found.append(make()(KEY, weights, gradient)[0])
    assert np.isnan(found[0][0, 1])
    assert_equal(found[:1], found[1:])


def test_it_is_registered_with_thincs_arguments():
    ours = registry.optimizers.get("spacy-hashembeds.Adam.v1")
    assert signature(ours).parameters == signature(ThincAdam).parameters
