"""Columns of keys, and the Maxout layer that mixes their vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from thinc.api import Model

from ..maxout import check_maxout
from .column import Column


@dataclass(frozen=True)
class Mixer:
    """Layers of columns, in order, and Thinc's that mix their vectors side by side."""

    columns: Sequence[Column]
    maxout: Model
    layernorm: Model
    dropout: Model | None

    def check(self) -> None:
        """Check weights and attributes of all layers once they arrive."""
        for column in self.columns:
            column.check()
        n_inputs = sum(column.width for column in self.columns)
        check_maxout(self.maxout, self.layernorm, nI=n_inputs)

    @cached_property
    def embedding(self) -> list[Model]:
        """The layers of the columns."""
        return [column.model for column in self.columns]

    @cached_property
    def folded(self) -> list[Model]:
        """The layers whose parameters are folded."""
        models = [column.model for column in self.columns if column.has_rows]
        return [*models, self.maxout, self.layernorm]

    def split_columns(self, W: Any) -> list[Any]:
        """Cut Maxout's weights by column. *Shape:* `(m, nI)` to `(m, width)` each."""
        parts, start = [], 0
        for column in self.columns:
            parts.append(W[:, start : start + column.width])
            start += column.width
        return parts
