"""Masks against Thinc's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from thinc.api import Dropout, NumpyOps, fix_random_seed

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers.dropout import _draw_as_numpy, draw_mask

from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels


@both_paths
@pytest.mark.parametrize("rate", [-0.1, 1e-9, 0.1, 1 / 3, 0.5, 0.999, 1.0, 2.0])
@pytest.mark.parametrize("shape", [(0, 3), (7,), (50, 96)])
def test_masks_are_thincs_to_the_bit(rate, shape, kernels):
    layer = Dropout(rate)
    fix_random_seed(0)
    expected, _ = layer(np.ones(shape, dtype="f"), is_train=True)
    following = np.random.random_sample()
    fix_random_seed(0)
    with compiled.using(kernels):
        mask = draw_mask(layer, shape)
    assert mask.dtype == expected.dtype == "float32"
    np.testing.assert_array_equal(mask, expected)
    assert np.random.random_sample() == following


@both_paths
def test_what_is_drawn_next_to_the_rate_is_dropped_if_it_is_below(kernels):
    fix_random_seed(1)
    drawn = np.random.random_sample()
    assert drawn < 0.5  # so that there are numbers between it and the next it could be
    for rate in (np.nextafter(drawn, 0), drawn, np.nextafter(drawn, 1)):
        fix_random_seed(1)
        with compiled.using(kernels):
            mask = draw_mask(Dropout(float(rate)), (1,))
        assert (mask[0] == 0) == (drawn < rate)


def test_nothing_is_drawn_where_nothing_is_dropped():
    layer = Dropout(0.5)
    layer.attrs["is_enabled"] = False
    fix_random_seed(0)
    assert draw_mask(Dropout(0.0), (2, 3)) is None
    assert draw_mask(layer, (2, 3)) is None
    following = np.random.random_sample()
    fix_random_seed(0)
    assert np.random.random_sample() == following


@needs_kernels
def test_masks_follow_each_other_wherever_the_generator_stands():
    """Words of it are used up one by one, and numbers take two."""
    found = []
    for kernels in (KERNELS, None):
        fix_random_seed(0)
        noted = kernels and Noted(kernels)
        with compiled.using(noted):
            masks = []
            for n in (1, 311, 312, 313, 1000, 1):
                np.random.bytes(4)  # a word
                masks.append(draw_mask(Dropout(0.3), (n,)))
        found.append([*masks, np.random.random_sample(700), np.random.normal(size=3)])
        assert kernels is None or noted.names == ["draw_mask"] * 6
    for ours, expected in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, expected)


@both_paths
def test_masks_of_another_kind_of_generator(kernels):
    before = np.random.get_bit_generator()
    masks = []
    try:
        for mask in (
            draw_mask,
            lambda layer, shape: layer.ops.get_dropout_mask(shape, 0.3),
        ):
            np.random.set_bit_generator(np.random.PCG64(0))
            with compiled.using(kernels):
                masks.append(mask(Dropout(0.3), (50,)))
    finally:
        np.random.set_bit_generator(before)
    np.testing.assert_array_equal(*masks)


@needs_kernels
def test_a_state_that_makes_no_sense_is_left_to_numpy():
    state = np.random.get_state()
    try:
        np.random.set_state((*state[:2], 700, *state[3:]))
        with compiled.using(noted := Noted(KERNELS)):
            assert _draw_as_numpy(5, 0.5) is None
        assert noted.names == []
    finally:
        np.random.set_state(state)


@needs_kernels
def test_threads_draw_each_number_once():
    n, n_masks = 1001, 40
    with compiled.using(KERNELS), ThreadPoolExecutor(4) as pool:
        fix_random_seed(0)
        drawn = list(pool.map(lambda _: draw_mask(Dropout(0.5), (n,)), range(n_masks)))
        following = np.random.random_sample()
        fix_random_seed(0)
        expected = [draw_mask(Dropout(0.5), (n,)) for _ in range(n_masks)]
    assert {mask.tobytes() for mask in drawn} == {mask.tobytes() for mask in expected}
    assert np.random.random_sample() == following


def test_masks_of_other_ops_are_their_own():
    class OtherOps(NumpyOps):
        def get_dropout_mask(self, shape, drop):
            return np.full(shape, 7, dtype="f")

    layer = Dropout(0.5)
    layer.ops = OtherOps()
    assert (draw_mask(layer, (2, 3)) == 7).all()
