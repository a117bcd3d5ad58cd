"""Bounded cache of the codes of recent words."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from operator import is_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.distinct import Distinct, find_distinct
from ..kernels.rows import gather_add
from ..threads import codes_lock

#: Default limit for the memory of codes.
MAX_BYTES = 2**20

#: Maximum number of words in a cache.
MAX_WORDS = 2**16

# Places per set, for words whose hashes share their last bits. With fewer places, words
# are evicted long before the cache is full.
_WAYS = 8


class _Table(NamedTuple):
    """Sets of places for the most recent words whose hashes map to the set.

    *Shapes:* cached keys, `(sets, ways)`, uint64; their codes, `(sets * ways, width)`;
    the number of words written to each set, modulo 256, `(sets,)`, uint8.
    """

    settings: tuple
    keys: NDArray
    codes: NDArray
    n_written: NDArray

    def is_for(self, settings: tuple) -> bool:
        """True if settings are the same objects as those of the table."""
        old = self.settings
        return len(old) == len(settings) and all(map(is_, old, settings))

    def find_sets(self, keys: NDArray, kinds: NDArray) -> NDArray:
        """Find the sets of keys, int64, which depend on their kinds."""
        return (keys + kinds & np.uint64(len(self.n_written) - 1)).view("int64")


class CodeCache:
    """Cache of the codes of words. Its content is not copied, pickled or saved.

    A code is an array that depends only on a word, its kind, and settings.

    The cache is set-associative: the last bits of a word's key, a hash, select a set of
    eight places. Replacement is first in, first out, which takes only a few array
    operations per batch.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, n_kinds: int = 1) -> None:
        self._max_bytes = max_bytes
        self._kinds = np.arange(n_kinds, dtype="uint64")
        # replaced as a whole: threads never see an incomplete table
        self._table: _Table | None = None

    def __reduce__(self) -> tuple:
        return CodeCache, (self._max_bytes, len(self._kinds))

    def get(
        self,
        keys: NDArray,
        settings: tuple,
        compute: Callable[[NDArray], NDArray],
        kind: int = 0,
    ) -> NDArray:
        """Get the codes of distinct words, computing missing ones.

        keys (NDArray): A hash of each word. *Shape:* `(n,)`, uint64, distinct.
        settings (tuple): Objects that codes depend on, compared by identity.
        compute (Callable): Computes the codes of one or more words, `(m,)` to
            `(m, width)`.
        """
        table, kinds = self._table, self._kinds[kind]
        if table is None or not table.is_for(settings):
            codes = compute(keys)
            self._table = table = _make_table(
                settings, codes, self._max_bytes, len(self._kinds)
            )
            _store(table, keys, kinds, codes)
            return codes
        sets = table.find_sets(keys, kinds)
        with codes_lock:
            is_hit = table.keys.take(sets, axis=0) == keys[:, np.newaxis]
            codes = table.codes.take(sets * _WAYS + is_hit.argmax(axis=1), axis=0)
        (missing,) = np.nonzero(~is_hit.any(axis=1))
        if len(missing):
            codes[missing] = found = compute(keys[missing])
            _store(table, keys[missing], kinds, found)
        return codes

    def sum(self, keys: NDArray, compute: Callable[[int, NDArray], NDArray]) -> NDArray:
        """Sum the codes of all kinds for each token, computing missing ones.

        keys (NDArray): A hash of each word. *Shape:* `(n, kinds)`, uint64.
        compute (Callable): Computes the codes of one or more distinct words of a kind,
            given by its number: `(m,)` to `(m, width)`, float32.
        """
        table = self._table
        if table is not None:
            sets = table.find_sets(keys, self._kinds)
            with codes_lock:
                is_hit = table.keys.take(sets, axis=0) == keys[:, :, np.newaxis]
                # the eight bools of a set, viewed as a uint64, are nonzero for a hit
                if np.count_nonzero(is_hit.view("uint64")) == keys.size:
                    places = sets * _WAYS + is_hit.argmax(axis=2)
                    return gather_add(table.codes, places.astype("int32"))
        values = [find_distinct(words) for words in keys.T]
        codes = [
            self.get(words.values, (), partial(compute, kind), kind)
            for kind, words in enumerate(values)
        ]
        return sum_products(codes, values)


def sum_products(products: Sequence[NDArray], values: Sequence[Distinct]) -> NDArray:
    """Sum the products of all columns for each token: `(tokens, width)`."""
    starts = accumulate(map(len, products), initial=0)
    rows = [each.copies + n for each, n in zip(values, starts, strict=False)]
    return gather_add(np.concatenate(products), np.stack(rows, axis=1))


def _make_table(
    settings: tuple, codes: NDArray, max_bytes: int, n_kinds: int
) -> _Table:
    width = codes.shape[1]
    n_fitting = max(_WAYS, max_bytes // (width * codes.itemsize))
    n_words = min(MAX_WORDS, 2 ** (n_fitting.bit_length() - 1))
    n_sets = max(2 ** (2 * n_kinds - 1).bit_length(), n_words // _WAYS)
    return _Table(
        settings,
        _make_empty(np.arange(n_sets).repeat(_WAYS), n_sets).reshape(n_sets, _WAYS),
        np.zeros((n_sets * _WAYS, width), dtype=codes.dtype),
        np.zeros(n_sets, dtype="uint8"),
    )


def _make_empty(sets: NDArray, n_sets: int) -> NDArray:
    """Return keys that mark places of these sets as empty.

    With at most `n_sets / 2` kinds, the keys belong to other sets for every kind.
    """
    return (sets ^ n_sets // 2).astype("uint64")


def _store(table: _Table, keys: NDArray, kinds: NDArray, codes: NDArray) -> None:
    """Store the codes of keys, each in place of the oldest code of its set."""
    sets = table.find_sets(keys, kinds)
    order = sets.argsort(kind="stable")
    sets = sets[order]
    (starts,) = np.nonzero(np.diff(sets, prepend=-1))
    counts = np.diff(starts, append=len(sets))
    numbers = np.arange(len(sets)) - np.repeat(starts, counts)  # within each set
    fits = numbers < _WAYS  # only one code per place
    order, places = order[fits], sets[fits] * _WAYS
    # the lock prevents reads of a key with the code of another
    with codes_lock:
        places += (table.n_written[sets[fits]] + numbers[fits]) % _WAYS
        stored = table.keys.reshape(-1)
        # mark places as empty first: an interrupt then leaves no key with a wrong code
        stored[places] = _make_empty(sets[fits], len(table.n_written))
        table.codes[places] = codes[order]
        stored[places] = keys[order]
        table.n_written[sets[starts]] += np.minimum(counts, _WAYS).astype("uint8")
