"""Thinc's dropout masks, for comparisons with its layers. Our masks differ."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from thinc.api import NumpyOps, Ops


@contextmanager
def thincs_masks() -> Iterator[None]:
    """Draw Thinc's masks in all layers, as for ops that override `get_dropout_mask`."""

    def get_dropout_mask(ops: Any, shape: Any, drop: Any) -> Any:
        return Ops.get_dropout_mask(ops, shape, drop)

    with patch.object(NumpyOps, "get_dropout_mask", get_dropout_mask):
        yield
