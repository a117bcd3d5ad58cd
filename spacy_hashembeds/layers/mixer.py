"""Columns of keys, and the layers that mix their vectors."""

from collections.abc import Sequence

from numpy.typing import NDArray
from thinc.api import NumpyOps

from ..kernels.distinct import MAX_COLUMNS
from ..kernels.rows import is_on_gpu, split
from . import gpuembed
from .column import Column
from .maxout import check_maxout
from .plan import MaxoutLayers


class Mixer:
    """Columns of keys, in order, and Thinc's layers that mix their vectors."""

    def __init__(self, columns: Sequence[Column], layers: MaxoutLayers) -> None:
        self.columns, self.layers = columns, layers
        embedding = [column.model for column in columns]
        self.models = [*embedding, layers.maxout, layers.layernorm]
        self.widths = [column.width for column in columns]
        self.is_on_gpu = is_on_gpu(layers.maxout.ops)

    def can_embed(self) -> bool:
        """True if there is a fast path for these layers on their device."""
        if len(self.columns) > MAX_COLUMNS:
            return False
        if self.is_on_gpu:
            return gpuembed.can_mix(self.columns)
        return isinstance(self.layers.maxout.ops, NumpyOps)

    def check(self) -> None:
        """Check weights and attributes of all layers when they are set or loaded."""
        for column in self.columns:
            column.check()
        maxout, layernorm, _ = self.layers
        check_maxout(maxout, layernorm, nI=sum(self.widths))

    def split_columns(self, W: NDArray) -> list[NDArray]:
        """Split Maxout's weights by column. *Shapes:* `(m, nI)` to `(m, width)`."""
        return [part.T for part in split(W.T, self.widths)]
