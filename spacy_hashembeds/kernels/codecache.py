"""Keep the codes of words that were met lately, in bounded memory."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import locks
from .identity import are_same

#: The most memory that the codes of a cache take.
MAX_BYTES = 2**20

#: No more words than this are kept, however small their codes.
MAX_WORDS = 2**16

# Places for words of the same hash: with fewer, words have to go for others long before
# the cache is full.
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

    def find_sets(self, keys: NDArray) -> NDArray:
        """Find the sets of keys. *Shape:* `(n,)`, int64."""
        return (keys & np.uint64(len(self.turns) - 1)).astype("int64")


class CodeCache:
    """Keeps the codes of words. Neither copied, pickled nor saved with a layer.

    A word has eight places, by the last bits of its key, which is a hash, and there is
    no list of what was used when: it takes a few operations for all words of a batch.
    """

    def __init__(self) -> None:
        # one object, so that threads never see a part of it
        self._kept: _Table | None = None

    def __reduce__(self) -> tuple:
        return CodeCache, ()

    def get(
        self, keys: NDArray, settings: tuple, compute: Callable[[NDArray], NDArray]
    ) -> NDArray:
        """Get the codes of distinct words, computing those that are not kept.

        keys (NDArray): A hash of each word. *Shape:* `(n,)`, uint64, distinct.
        settings (tuple): What codes depend on beside words, compared by identity.
        compute (Callable): Computes at least one code, `(m,)` to `(m, width)`.
        """
        table = self._kept
        if table is None or not are_same(table.settings, settings):
            codes = compute(keys)
            self._kept = table = _make_table(settings, codes)
            _keep(table, keys, codes)
            return codes
        codes, is_known = _look_up(table, keys)
        if not is_known.all():
            (missing,) = np.nonzero(~is_known)
            codes[missing] = found = compute(keys[missing])
            _keep(table, keys[missing], found)
        return codes


def _make_table(settings: tuple, codes: NDArray) -> _Table:
    width = codes.shape[1]
    n_fitting = max(_WAYS, MAX_BYTES // (width * codes.itemsize))
    n_words = min(MAX_WORDS, 2 ** (n_fitting.bit_length() - 1))
    n_sets = max(2, n_words // _WAYS)
    # keys that belong to other sets have no code
    nobodys = np.arange(n_sets, dtype="uint64") ^ np.uint64(1)
    return _Table(
        settings,
        np.repeat(nobodys, _WAYS).reshape(n_sets, _WAYS),
        np.zeros((n_sets * _WAYS, width), dtype=codes.dtype),
        np.zeros(n_sets, dtype="uint8"),
    )


def _look_up(table: _Table, keys: NDArray) -> tuple[NDArray, NDArray]:
    """Look up keys: their codes, if they are known, and whether they are."""
    sets = table.find_sets(keys)
    with locks.codes:
        is_there = table.keys.take(sets, axis=0) == keys[:, np.newaxis]
        codes = table.codes.take(sets * _WAYS + is_there.argmax(axis=1), axis=0)
    return codes, is_there.any(axis=1)


def _keep(table: _Table, keys: NDArray, codes: NDArray) -> None:
    """Keep the codes of keys, each in place of the one of its set that came first."""
    sets = table.find_sets(keys)
    order = sets.argsort(kind="stable")
    sets = sets[order]
    (starts,) = np.nonzero(np.diff(sets, prepend=-1))
    counts = np.diff(starts, append=len(sets))
    numbers = np.arange(len(sets)) - np.repeat(starts, counts)  # within each set
    # a place for each, so that no order of writing matters
    fits = numbers < _WAYS
    order, places = order[fits], sets[fits] * _WAYS
    # another thread shall not see the key of one word with the code of another
    with locks.codes:
        places += (table.turns[sets[fits]] + numbers[fits]) % _WAYS
        kept = table.keys.reshape(-1)
        # no key until the code is there: what is interrupted leaves no wrong one
        kept[places] = sets[fits].astype("uint64") ^ np.uint64(1)
        table.codes[places] = codes[order]
        kept[places] = keys[order]
        table.turns[sets[starts]] += np.minimum(counts, _WAYS).astype("uint8")
