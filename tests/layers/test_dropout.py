"""Masks against Thinc's."""

import numpy as np
import pytest
from thinc.api import Dropout, NumpyOps, fix_random_seed

from spacy_hashembeds.layers import dropout
from spacy_hashembeds.layers.dropout import draw_mask


@pytest.mark.parametrize("rate", [-0.1, 1e-9, 0.1, 1 / 3, 0.5, 0.999, 1.0, 2.0])
@pytest.mark.parametrize("shape", [(0, 3), (7,), (50, 96)])
def test_masks_are_thincs_to_the_bit(rate, shape):
    layer = Dropout(rate)
    fix_random_seed(0)
    expected, _ = layer(np.ones(shape, dtype="f"), is_train=True)
    following = np.random.random_sample()
    fix_random_seed(0)
    mask = draw_mask(layer, shape)
    assert mask.dtype == expected.dtype == "float32"
    np.testing.assert_array_equal(mask, expected)
    assert np.random.random_sample() == following


def test_nothing_is_drawn_where_nothing_is_dropped():
    layer = Dropout(0.5)
    layer.attrs["is_enabled"] = False
    fix_random_seed(0)
    assert draw_mask(Dropout(0.0), (2, 3)) is None
    assert draw_mask(layer, (2, 3)) is None
    following = np.random.random_sample()
    fix_random_seed(0)
    assert np.random.random_sample() == following


def test_masks_of_other_ops_are_their_own():
    class OtherOps(NumpyOps):
        def get_dropout_mask(self, shape, drop):
            return np.full(shape, 7, dtype="f")

    layer = Dropout(0.5)
    layer.ops = OtherOps()
    assert (draw_mask(layer, (2, 3)) == 7).all()


def test_thincs_function_is_not_called(monkeypatch):
    """Else the tests above would compare it with itself."""
    monkeypatch.setattr(dropout.Ops, "get_dropout_mask", refuse)
    draw_mask(Dropout(0.5), (2, 3))


def refuse(*args):
    raise AssertionError
