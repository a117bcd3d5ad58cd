"""Columns of a layer's output that are left, where the others are to be zero."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from thinc.api import Model

# Of this thread alone: others may predict with the same layer meanwhile.
_LEFT: ContextVar[tuple[Model, slice] | None] = ContextVar("left", default=None)


@contextmanager
def leaving_alone(model: Model, columns: slice) -> Iterator[None]:
    """Have a layer that asks `leave_columns` predict zeros in all columns but some."""
    token = _LEFT.set((model, columns))
    try:
        yield
    finally:
        _LEFT.reset(token)


def leave_columns(model: Model, Y: Any) -> Any:
    """Give the output of a layer, shape `(n, nO)`, or what is to be left of it."""
    left = _LEFT.get()
    if left is None or left[0] is not model:
        return Y
    part = model.ops.xp.zeros_like(Y)
    part[:, left[1]] = Y[:, left[1]]
    return part
