"""Cache of codes of words that were met lately, in bounded memory."""

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

#: Most memory that the codes of a cache take, by default.
MAX_BYTES = 2**20

#: Most words in a cache, however small their codes.
MAX_WORDS = 2**16

# Places for words of the same hash: with fewer, words are evicted long before the cache
# is full.
_WAYS = 8


class _Table(NamedTuple):
    """Places for words: a set of some for all of the same hash, those that came last.

    *Shapes:* keys whose code is there, `(sets, ways)`, uint64; codes, `(sets * ways,
    width)`; how often a word came into each set, `(sets,)`, uint8.
    """

    settings: tuple
    keys: NDArray
    codes: NDArray
    turns: NDArray

    def has(self, settings: tuple) -> bool:
        """Return True if settings are the same objects."""
        old = self.settings
        return len(old) == len(settings) and all(map(is_, old, settings))

    def find_sets(self, keys: NDArray, kinds: NDArray) -> NDArray:
        """Find the sets of keys, as int64. Equal keys of two kinds have different ones,
        so that a key that is in a set is of one kind.
        """
        return (keys + kinds & np.uint64(len(self.turns) - 1)).view("int64")


class CodeCache:
    """Keeps the codes of words. Neither copied, pickled nor saved with a layer.

    Codes are whatever depends on nothing but a word, its kind, of which there may be
    several, and settings.

    A word has eight places, by the last bits of its key, which is a hash, and there is
    no list of what was used when: it takes a few operations for all words of a batch.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, n_kinds: int = 1) -> None:
        self._max_bytes = max_bytes
        self._kinds = np.arange(n_kinds, dtype="uint64")
        # one object, so that threads never see a part of it
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
        """Get the codes of distinct words, computing those that are not kept.

        keys (NDArray): A hash of each word. *Shape:* `(n,)`, uint64, distinct.
        settings (tuple): What codes depend on beside words, compared by identity.
        compute (Callable): Computes at least one code, `(m,)` to `(m, width)`.
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
        """Sum the codes of words of all kinds, computing those that are not kept.

        keys (NDArray): A hash of each word. *Shape:* `(n, kinds)`, uint64.
        compute (Callable): Given the number of a kind, computes the codes of distinct
            words, at least one, `(m,)` to `(m, width)`, float32.
        """
        table = self._kept
        if table is not None:
            sets = table.find_sets(keys, self._kinds)
            with codes_lock:
                is_there = table.keys.take(sets, axis=0) == keys[:, :, np.newaxis]
                # the eight places of a set at once: one number tells if any has it
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
    """Sum for each token what there is for its value in each column.

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
    """Find keys that belong to other sets, of whatever kind they are: at most half as
    many as sets. They have no code.
    """
    return (sets ^ n_sets // 2).astype("uint64")


def _keep(table: _Table, keys: NDArray, kinds: NDArray, codes: NDArray) -> None:
    """Keep the codes of keys, each in place of the one of its set that came first."""
    sets = table.find_sets(keys, kinds)
    order = sets.argsort(kind="stable")
    sets = sets[order]
    (starts,) = np.nonzero(np.diff(sets, prepend=-1))
    counts = np.diff(starts, append=len(sets))
    numbers = np.arange(len(sets)) - np.repeat(starts, counts)  # within each set
    # a place for each, so that no order of writing matters
    fits = numbers < _WAYS
    order, places = order[fits], sets[fits] * _WAYS
    # another thread shall not see the key of one word with the code of another
    with codes_lock:
        places += (table.turns[sets[fits]] + numbers[fits]) % _WAYS
        kept = table.keys.reshape(-1)
        # no key until the code is there: what is interrupted leaves no wrong one
        kept[places] = _find_nobodys(sets[fits], len(table.turns))
        table.codes[places] = codes[order]
        kept[places] = keys[order]
        table.turns[sets[starts]] += np.minimum(counts, _WAYS).astype("uint8")
