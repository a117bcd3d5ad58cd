"""Count keys of 64 bits, exactly or in bounded memory."""

import numpy as np
from numpy.typing import NDArray

#: Size of the buffer of keys to count, and overhead per array.
_BUFFER_SIZE = 1_000_000
_ARRAY_OVERHEAD = 32


class KeyCounter:
    """Counts keys, exactly without a limit, else at most `limit` distinct keys.

    Beyond the limit, the rarest keys are dropped, down to half of it, and counted from
    0 if they recur: counts are too low by at most `error`.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.error = 0
        self._keys = np.zeros(0, dtype="uint64")
        self._counts = np.zeros(0, dtype="int64")
        self._buffer: list[NDArray] = []
        self._n_buffered = 0

    def add(self, keys: NDArray) -> None:
        """Count keys. *Shape:* `(n,)`, uint64."""
        self._buffer.append(keys)
        self._n_buffered += len(keys) + _ARRAY_OVERHEAD
        if self._n_buffered >= max(_BUFFER_SIZE, (self.limit or 0) // 8):
            self._flush()

    def get_counts(self) -> tuple[NDArray, NDArray]:
        """Return ascending keys, uint64, and counts, int64. *Shapes:* `(n,)`."""
        self._flush()
        return self._keys, self._counts

    def get_most_frequent(self, n: int) -> NDArray:
        """Return the `n` most frequent keys, ascending. *Shape:* `(n,)` or less."""
        self._flush()
        return self._keys[self._find_top(n)]

    def _flush(self) -> None:
        if not self._buffer:  # np.insert always copies
            return
        buffered = np.concatenate(self._buffer)
        self._buffer, self._n_buffered = [], 0
        keys, counts = np.unique(buffered, return_counts=True)
        indices = np.searchsorted(self._keys, keys)
        is_new = indices == np.searchsorted(self._keys, keys, side="right")
        self._counts[indices[~is_new]] += counts[~is_new]
        # separate statements, so that only one array is copied at a time
        self._keys = np.insert(self._keys, indices[is_new], keys[is_new])
        self._counts = np.insert(self._counts, indices[is_new], counts[is_new])
        if self.limit is not None and len(self._keys) > self.limit:
            is_kept = np.zeros(len(self._keys), dtype=bool)
            is_kept[self._find_top(max(1, self.limit // 2))] = True
            self.error += int(self._counts[~is_kept].max())
            self._keys, self._counts = self._keys[is_kept], self._counts[is_kept]

    def _find_top(self, n: int) -> NDArray:
        """Return ascending indices of the `n` largest counts. *Shape:* `(<= n,)`."""
        if len(self._counts) <= n:
            return np.arange(len(self._counts))
        return np.sort(np.argpartition(self._counts, -n)[-n:])
