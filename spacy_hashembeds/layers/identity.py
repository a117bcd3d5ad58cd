"""Identity of objects: whether they are the same ones as before."""

from collections.abc import Callable, Iterable, Sequence
from operator import getitem, is_
from typing import Any


def are_same(
    old: Sequence[Any],
    new: Sequence[Any],
    is_same: Callable[[Any, Any], bool] = is_,
) -> bool:
    """Tell whether there are as many objects, each the same as before."""
    return len(old) == len(new) and all(map(is_same, old, new))


class Snapshot:
    """The values of some dicts, to tell later whether they hold the same objects."""

    def __init__(self, dicts: Iterable[dict]) -> None:
        self._dicts = list(dicts)
        self._sizes = list(map(len, self._dicts))
        # side by side, so that no Python is run for each
        self._owners = [each for each in self._dicts for _ in each]
        self._keys = [key for each in self._dicts for key in each]
        self.values = list(map(getitem, self._owners, self._keys))

    def is_current(self) -> bool:
        """Tell whether all dicts hold the objects that they held."""
        values = map(getitem, self._owners, self._keys)
        try:
            return all(map(is_, values, self.values)) and (
                list(map(len, self._dicts)) == self._sizes
            )
        except KeyError:
            return False
