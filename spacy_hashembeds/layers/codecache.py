"""Cache of the codes of recent words, in bounded memory."""

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

#: Default limit of the memory for the codes of a cache.
MAX_BYTES = 2**20

#: Most words in a cache, however small their codes.
MAX_WORDS = 2**16

# Places per set, for words whose hashes share their last bits. With fewer places, words
# are evicted long before the cache is full.
_WAYS = 8


class _Table(NamedTuple):
    """Sets of places. Each set has the most recent words whose hashes lead to it.

    *Shapes:* keys whose codes are cached, `(sets, ways)`, uint64; their codes,
    `(sets * ways, width)`; the number of words ever put into each set, modulo 256,
    `(sets,)`, uint8.
    """

    settings: tuple
    keys: NDArray
    codes: NDArray
    turns: NDArray

    def has(self, settings: tuple) -> bool:
        """Return True if settings are the same objects as those of the table."""
        old = self.settings
        return len(old) == len(settings) and all(map(is_, old, settings))

    def find_sets(self, keys: NDArray, kinds: NDArray) -> NDArray:
        """Find the sets of keys, as int64. Equal keys of different kinds have different
        sets, so that a key in a set is of one kind.
        """
        return (keys + kinds & np.uint64(len(self.turns) - 1)).view("int64")


class CodeCache:
    """Cache of the codes of words, neither copied, pickled nor saved with a layer.

    A code is an array that depends only on a word, on its kind, and on settings.

    The cache is set-associative: the last bits of a word's key, which is a hash, select
    one of the sets of eight places. The order of use is not recorded, so that a batch
    of words takes only a few array operations.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, n_kinds: int = 1) -> None:
        self._max_bytes = max_bytes
        self._kinds = np.arange(n_kinds, dtype="uint64")
        # one object, so that threads never see it incomplete
        self._kept: _Table | None = None

    def __reduce__(self) -> tuple:
        return CodeCache, (self._max_bytes, len(self._kinds))

    def get(
        self,
        keys: NDArray,
        settings: tuple,
        compute: Callable[[NDArray], NDArray],
        kind: int = 0,
    ) -> NDArray:
        """Get the codes of distinct words, computing those that are not cached.

        keys (NDArray): A hash of each word. *Shape:* `(n,)`, uint64, distinct.
        settings (tuple): Objects that codes depend on too, compared by identity.
        compute (Callable): Computes the codes of one or more words, `(m,)` to
            `(m, width)`.
        """
        table, kinds = self._kept, self._kinds[kind]
        if table is None or not table.has(settings):
            codes = compute(keys)
            self._kept = table = _make_table(
                settings, codes, self._max_bytes, len(self._kinds)
            )
            _keep(table, keys, kinds, codes)
            return codes
        sets = table.find_sets(keys, kinds)
        with codes_lock:
            is_there = table.keys.take(sets, axis=0) == keys[:, np.newaxis]
            codes = table.codes.take(sets * _WAYS + is_there.argmax(axis=1), axis=0)
        is_known = is_there.any(axis=1)
        if not is_known.all():
            (missing,) = np.nonzero(~is_known)
            codes[missing] = found = compute(keys[missing])
            _keep(table, keys[missing], kinds, found)
        return codes

    def sum(self, keys: NDArray, compute: Callable[[int, NDArray], NDArray]) -> NDArray:
        """Sum each token's codes of all kinds, computing those that are not cached.

        keys (NDArray): A hash of each word. *Shape:* `(n, kinds)`, uint64.
        compute (Callable): Computes the codes of one or more distinct words, given the
            number of their kind: `(m,)` to `(m, width)`, float32.
        """
        table = self._kept
        if table is not None:
            sets = table.find_sets(keys, self._kinds)
            with codes_lock:
                is_there = table.keys.take(sets, axis=0) == keys[:, :, np.newaxis]
                # eight bools of a set as one uint64, which is nonzero for a hit
                if np.count_nonzero(is_there.view("uint64")) == keys.size:
                    places = sets * _WAYS + is_there.argmax(axis=2)
                    return gather_add(table.codes, places.astype("int32"))
        values = [find_distinct(words) for words in keys.T]
        codes = [
            self.get(words.values, (), partial(compute, kind), kind)
            for kind, words in enumerate(values)
        ]
        return sum_products(codes, values)


def sum_products(products: Sequence[NDArray], values: Sequence[Distinct]) -> NDArray:
    """Sum, for each token, the products of its values in all columns.

    *Shape:* `(values, width)` for each column, to `(tokens, width)`.
    """
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
        _find_nobodys(np.arange(n_sets).repeat(_WAYS), n_sets).reshape(n_sets, _WAYS),
        np.zeros((n_sets * _WAYS, width), dtype=codes.dtype),
        np.zeros(n_sets, dtype="uint8"),
    )


def _find_nobodys(sets: NDArray, n_sets: int) -> NDArray:
    """Return keys that mark places of these sets as empty: for every kind of word, of
    which there are at most half as many as sets, the keys belong to other sets.
    """
    return (sets ^ n_sets // 2).astype("uint64")


def _keep(table: _Table, keys: NDArray, kinds: NDArray, codes: NDArray) -> None:
    """Store the codes of keys, each in place of the oldest code of its set."""
    sets = table.find_sets(keys, kinds)
    order = sets.argsort(kind="stable")
    sets = sets[order]
    (starts,) = np.nonzero(np.diff(sets, prepend=-1))
    counts = np.diff(starts, append=len(sets))
    numbers = np.arange(len(sets)) - np.repeat(starts, counts)  # within each set
    # distinct places, so that the order of writing does not matter
    fits = numbers < _WAYS
    order, places = order[fits], sets[fits] * _WAYS
    # other threads must not see the key of one word with the code of another
    with codes_lock:
        places += (table.turns[sets[fits]] + numbers[fits]) % _WAYS
        kept = table.keys.reshape(-1)
        # mark places as empty first: an interrupt then leaves no key with a wrong code
        kept[places] = _find_nobodys(sets[fits], len(table.turns))
        table.codes[places] = codes[order]
        kept[places] = keys[order]
        table.turns[sets[starts]] += np.minimum(counts, _WAYS).astype("uint8")
