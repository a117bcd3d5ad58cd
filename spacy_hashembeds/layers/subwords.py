"""Rows of a table for the character n-grams of words, as floret finds them."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import compiled

#: What stands before and after a word: an n-gram with one of them begins or ends it.
BEGIN, END = "<", ">"

#: floret's seed.
SEED = 2166136261

#: Longer words have their first and last characters alone: half as many of each.
MAX_CHARACTERS = 128

_MASK = 2**64 - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


class Ngrams(NamedTuple):
    """Choice of a word's n-grams, and of the rows that each of them has.

    minn, maxn (int): Their lengths in characters, of the word with its marks. The whole
        of it counts too.
    num_hashes (int): Rows of an n-gram, 1 to 4: the first of its hashes modulo `rows`.
    """

    minn: int
    maxn: int
    num_hashes: int
    rows: int

    def find_rows(self, words: Sequence[str]) -> tuple[NDArray, NDArray]:
        """Find the rows of words, and how many each has, at least one.

        *Shapes:* `(sum of lengths,)`, uint32; `(words,)`, int64.
        """
        words = [shorten(unicodedata.normalize("NFC", word)) for word in words]
        kernels = compiled.kernels
        if kernels is not None:
            return kernels.find_ngram_rows(
                [f"{BEGIN}{word}{END}".encode() for word in words], SEED, *self
            )
        found = [
            row
            for word in words
            for ngram in self.cut(word)
            for row in hash_text(ngram)[: self.num_hashes]
        ]
        lengths = [self.num_hashes * len([*self.cut(word)]) for word in words]
        rows = np.array(found, dtype="uint32") % np.uint32(self.rows)
        return rows, np.array(lengths, dtype="int64")

    def cut(self, word: str) -> Iterator[str]:
        """Cut a word: all of it first, then n-grams, shortest first."""
        marked = f"{BEGIN}{word}{END}"
        yield marked
        for size in range(self.minn, min(self.maxn, len(marked)) + 1):
            for start in range(len(marked) - size + 1):
                yield marked[start : start + size]


def shorten(word: str) -> str:
    """Shorten a word that is longer than words are."""
    half = MAX_CHARACTERS // 2
    return word if len(word) <= MAX_CHARACTERS else word[:half] + word[-half:]


def hash_text(text: str) -> tuple[int, ...]:
    """Hash the UTF-8 of a text to four numbers of 32 bits, by MurmurHash3_x64_128."""
    data = text.encode("utf8")
    h1 = h2 = SEED
    n_blocks = len(data) // 16
    for i in range(n_blocks):
        block = data[16 * i : 16 * (i + 1)]
        h1 ^= _scramble(block[:8], _C1, 31, _C2)
        h1 = ((_rotate(h1, 27) + h2) * 5 + 0x52DCE729) & _MASK
        h2 ^= _scramble(block[8:], _C2, 33, _C1)
        h2 = ((_rotate(h2, 31) + h1) * 5 + 0x38495AB5) & _MASK
    rest = data[16 * n_blocks :]
    h2 ^= _scramble(rest[8:], _C2, 33, _C1)
    h1 ^= _scramble(rest[:8], _C1, 31, _C2)
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    h1, h2 = _mix(h1), _mix(h2)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    return h1 & 0xFFFFFFFF, h1 >> 32, h2 & 0xFFFFFFFF, h2 >> 32


def _scramble(block: bytes, first: int, bits: int, second: int) -> int:
    k = int.from_bytes(block, "little") * first & _MASK
    return _rotate(k, bits) * second & _MASK


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & _MASK


def _mix(x: int) -> int:
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & _MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & _MASK
    return x ^ x >> 33
