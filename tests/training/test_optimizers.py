"""Our Adam is bitwise equal to Thinc's."""

import platform
from inspect import signature
from itertools import islice

import numpy as np
import pytest
from spacy.util import registry
from thinc.api import Adam as ThincAdam
from thinc.api import warmup_linear

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.training.optimizers import Adam

from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels

# elsewhere, Thinc may be compiled with fused multiply-add
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
SCHEDULED = {"learn_rate": [*islice(warmup_linear(0.001, 5, 15), 20)], "L2": 0.01}
#: Settings without the kernel.
OTHERS = {
    "L2 of the gradient": {"L2": 0.1, "L2_is_weight_decay": False},
    "numpy's learn_rate": {"learn_rate": np.float64(0.01)},
    "numpy's grad_clip": {"grad_clip": np.float64(1 / 3)},
    "SGD": {"beta1": 0.0, "beta2": 0.0},
}


def optimize(optimizer, shape=(31, 7), n_before=0, step=1, first=0.0):
    """Optimize by synthetic gradients. Return weights and optimizer state."""
    state = np.random.default_rng(0)
    weights = state.normal(size=shape).astype("f")[::step]
    optimizer.nr_update[KEY] = n_before
    for _ in range(20):
        scale = 10 ** state.uniform(-6, 1)
        gradient = (state.normal(size=weights.shape) * scale).astype("f")
        gradient[:1] += first
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
@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        *((settings, {}) for settings in [*SETTINGS.values(), *OTHERS.values()]),
        *((SCHEDULED, {"shape": shape}) for shape in ((1,), (0, 3), (2, 3, 4))),
        # Thinc bounds the decay of averages after many steps
        (SCHEDULED, {"n_before": 10**6}),
        # strided arrays, and NaN gradients, which are not clipped
        *(({}, {"step": step, "first": np.nan}) for step in (1, 2)),
    ],
    ids=str,
)
def test_equals_thincs(settings, changes, kernels):
    with compiled.using(kernels):
        ours = optimize(Adam(**settings), **changes)
    theirs = ThincAdam(**{"use_averages": True, **settings})
    assert_equal(ours, optimize(theirs, **changes))


@needs_kernels
def test_the_kernel_is_used_if_supported():
    for settings in (*SETTINGS.values(), *OTHERS.values()):
        with compiled.using(noted := Noted(KERNELS)):
            optimize(Adam(**settings))
        is_taken = settings in SETTINGS.values()
        assert noted.names == (["step_adam"] * 20 if is_taken else [])


def test_registered_with_thincs_arguments():
    ours = registry.optimizers.get("spacy-hashembeds.Adam.v1")
    assert signature(ours).parameters == signature(ThincAdam).parameters
