"""Keys counted part by part, in memory that can be bounded."""

import numpy as np
from numpy.typing import NDArray

#: How many keys are gathered before they are counted, at least ...
_GATHERED = 1_000_000
#: ... and for how many of them an array counts, that of a short text too.
_AN_ARRAY = 32


class KeyCounter:
    """Counts keys, exactly where there is no limit, or at most so many distinct ones.

    Where there are more, the rarest are forgotten on the way, down to half as many, and
    counted anew when they come again. From then on a count may be too low, by `error`
    at most, and a key that is not there was given `error` times at most.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.error = 0
        self._keys = np.zeros(0, dtype="uint64")
        self._counts = np.zeros(0, dtype="int64")
        self._gathered: list[NDArray] = []
        self._n_gathered = 0

    def add(self, keys: NDArray) -> None:
        """Count keys. *Shape:* `(n,)`, uint64."""
        self._gathered.append(keys)
        self._n_gathered += len(keys) + _AN_ARRAY
        if self._n_gathered >= max(_GATHERED, (self.limit or 0) // 8):
            self._count()

    def add_counts(self, keys: NDArray, counts: NDArray, error: int = 0) -> None:
        """Add what another has counted: distinct keys in ascending order, its counts,
        and its error. *Shapes:* `(n,)`, uint64 and int64.
        """
        self.error += error
        places = np.searchsorted(self._keys, keys)
        is_new = places == np.searchsorted(self._keys, keys, side="right")
        self._counts[places[~is_new]] += counts[~is_new]
        # one after the other: each is as large as all that is known
        self._keys = np.insert(self._keys, places[is_new], keys[is_new])
        self._counts = np.insert(self._counts, places[is_new], counts[is_new])
        if self.limit is not None and len(self._keys) > self.limit:
            self._forget(self.limit)

    def get_counts(self) -> tuple[NDArray, NDArray]:
        """Get the keys in ascending order, and their counts. *Shapes:* `(n,)`, uint64
        and int64.
        """
        self._count()
        return self._keys, self._counts

    def get_most_frequent(self, n: int) -> NDArray:
        """Get those given most often. *Shape:* `(n,)` or less, uint64, ascending."""
        self._count()
        return self._keys[self._find_top(n)]

    def _count(self) -> None:
        if not self._gathered:  # to insert nothing would copy all that is known
            return
        gathered = np.concatenate(self._gathered)
        self._gathered, self._n_gathered = [], 0
        self.add_counts(*np.unique(gathered, return_counts=True))

    def _forget(self, limit: int) -> None:
        is_kept = np.zeros(len(self._keys), dtype=bool)
        is_kept[self._find_top(max(1, limit // 2))] = True
        self.error += int(self._counts[~is_kept].max())
        self._keys, self._counts = self._keys[is_kept], self._counts[is_kept]

    def _find_top(self, n: int) -> NDArray:
        """Find where the largest counts are. *Shape:* `(n,)` or less, ascending."""
        if len(self._counts) <= n:
            return np.arange(len(self._counts))
        return np.sort(np.argpartition(self._counts, -n)[-n:])
