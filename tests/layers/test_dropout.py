"""Dropout masks."""

import numpy as np
import pytest
from thinc.api import Dropout, NumpyOps, fix_random_seed

from spacy_hashembeds.layers.maxout import draw_mask


@pytest.mark.parametrize("shape", [(0, 3), (1,), (1001, 97)])
@pytest.mark.parametrize("rate", [1e-9, 0.001, 0.1, 1 / 3, 0.5, np.nextafter(1, 0)])
def test_dropout_rate(rate, shape):
    layer, masks = Dropout(rate), []
    for _ in range(2):
        fix_random_seed(7)
        masks.append([draw_mask(layer, shape) for _ in range(2)])
    np.testing.assert_array_equal(*masks)  # repeatable
    mask = masks[0][0]
    assert (mask.dtype, mask.shape) == ("float32", shape)
    assert set(mask.flat) <= {0, np.float32(1 / (1 - rate))}
    n_dropped, expected = (mask == 0).sum(), rate * mask.size
    assert abs(n_dropped - expected) <= 1 + 5 * np.sqrt(expected)
    if 0 < n_dropped < mask.size:
        assert (masks[0][0] != masks[0][1]).any()


def test_no_mask_without_dropout():
    layer = Dropout(0.5)
    layer.attrs["is_enabled"] = False
    before = np.random.get_state()[1].copy()
    assert draw_mask(Dropout(0.0), (2, 3)) is draw_mask(layer, (2, 3)) is None
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_masks_of_custom_ops():
    class OtherOps(NumpyOps):
        def get_dropout_mask(self, shape, drop):
            return np.full(shape, 7, dtype="f")

    layer = Dropout(0.5)
    layer.ops = OtherOps()
    assert (draw_mask(layer, (2, 3)) == 7).all()
