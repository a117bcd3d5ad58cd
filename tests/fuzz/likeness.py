"""What a check could see in data that were others before."""

from collections.abc import Callable, Iterator, Set
from typing import Any

import numpy as np

#: Says by its key whether a value, no list, mapping or array, may be another.
CanBe = Callable[[str, Any, Any], bool]


def find_unlike(
    good: Any, bad: Any, can_be: CanBe, optional: Set[str] = frozenset(), key: str = ""
) -> Iterator[str]:
    """Find values that could not be in the place of those that were there.

    optional: Keys of mappings that need not be there.
    """
    if {type(good), type(bad)} == {dict}:
        for name in sorted(good.keys() - bad.keys() - optional):
            yield f"{key}: no {name}"
        pairs = [(good[name], bad[name], name) for name in good.keys() & bad.keys()]
    elif {type(good), type(bad)} == {list}:
        pairs = [(*both, key) for both in zip(good, bad, strict=False)]
    else:
        pairs = []
        yield from [] if _can_be(can_be, key, good, bad) else [f"{key}: {bad!r:.80}"]
    for old, new, name in pairs:
        yield from find_unlike(old, new, can_be, optional, name)


def _can_be(can_be: CanBe, key: str, good: Any, bad: Any) -> bool:
    if isinstance(good, np.ndarray) and isinstance(bad, np.ndarray):
        return _are_alike(good, bad)
    return type(good) not in (dict, list, np.ndarray) and can_be(key, good, bad)


def _are_alike(good: Any, bad: Any) -> bool:
    is_sorted = [
        array.ndim == 1 and (array[1:] > array[:-1]).all() for array in (good, bad)
    ]
    in_order = good.dtype != "uint64" or is_sorted[1] or not is_sorted[0]
    is_same = (good.shape, good.dtype) == (bad.shape, bad.dtype)
    return is_same and in_order and bool(np.isfinite(bad).all())
