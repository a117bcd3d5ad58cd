"""Tell whether things are the very things that were there before."""

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any


def are_same(
    old: Sequence[Any],
    new: Sequence[Any],
    is_same: Callable[[Any, Any], bool] = is_,
) -> bool:
    """Tell whether there are as many things, and each is the same as before."""
    return len(old) == len(new) and all(map(is_same, old, new))
