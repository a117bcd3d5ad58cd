"""Locality-sensitive hashing: words of similar spelling have similar codes.

A word is a bag of character n-grams, a point in a space with one dimension per n-gram.
Hyperplanes are generated from n-grams, exactly equal on all machines.

Source: Xue and Aletras, "HashFormers" (2022), §3.3 and §3.5.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.rows import NUMPY_OPS

#: Approximate maximum number of n-grams of a word, to bound memory and keep sums exact.
#: Longer words are cut, to 1,000 characters if `ngram_size` is 4.
MAX_NGRAMS = 4000
#: Minimum length of the circle if all n-grams are used.
OPEN_CIRCLE = 2**16

# Constants of splitmix64 (Steele, Lea and Flood 2014).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

# Scales of rounded normal quantiles: 256 for hyperplanes, 2³² for the circle. Sums over
# a word are exact, in float32 for hyperplanes and in int32 for the circle.
_SCALE = 1000
_CIRCLE_SCALE = 2**16
# Numbers gathered and summed at a time, which fit into a core's cache.
_BLOCK = 2**20


class WordNgrams(NamedTuple):
    """N-grams of words, `(n,)`, uint64, and their number per word, `(words,)`."""

    keys: NDArray
    lengths: NDArray

    def select(self, chosen: NDArray) -> "WordNgrams":
        """Return the n-grams in a mask, `(n,)`, bool."""
        return WordNgrams(self.keys[chosen], _sum_by_word(chosen, self.lengths))


def find_ngrams(words: Sequence[str], ngram_size: int) -> WordNgrams:
    """Find all sequences of 1 to `ngram_size` characters in words, with repetitions."""
    max_chars = MAX_NGRAMS // ngram_size
    cut = [word[:max_chars] for word in words]
    n_chars = np.fromiter(map(len, cut), dtype="int64", count=len(cut))
    buffer = "".join(cut).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(buffer, dtype="<u4").astype("uint64")
    ngram_size = min(ngram_size, int(n_chars.max(initial=1)))
    left = np.repeat(n_chars.cumsum(), n_chars) - np.arange(len(codes))
    keys = np.zeros((len(codes), ngram_size), dtype="uint64")
    state = np.zeros(len(codes), dtype="uint64")
    for size in range(ngram_size):
        # removed below: n-grams across the end of a word
        state = _mix(state + np.roll(codes, -size) + _GOLDEN)
        keys[:, size] = state
    fits = np.arange(ngram_size) < left[:, np.newaxis]
    return WordNgrams(keys[fits], _sum_by_word(fits.sum(axis=1), n_chars))


def _sum_by_word(values: NDArray, lengths: NDArray) -> NDArray:
    return np.diff(np.append(0, values.cumsum())[np.append(0, lengths.cumsum())])


def find_bits(ngrams: WordNgrams, num_bits: int, seed: int) -> NDArray:
    """Find the sides of `num_bits` random hyperplanes on which words lie.

    A bit is 1 if the inner product of n-gram counts and hyperplane is at least 0. The
    most significant bit is first. *Shape:* `(words, ceil(num_bits / 8))`, uint8.
    """
    all_ones = np.packbits(np.ones(num_bits, dtype=bool))
    bits = np.tile(all_ones, (len(ngrams.lengths), 1))
    ends = ngrams.lengths.cumsum()
    # blocks of words with about `_BLOCK` bits in total
    cuts = np.flatnonzero(np.diff(ends // max(1, _BLOCK // num_bits), prepend=-1))
    for first, last in pairwise([*cuts.tolist(), len(ends)]):
        keys = ngrams.keys[ends[first] - ngrams.lengths[first] : ends[last - 1]]
        if len(keys):  # words without n-grams lie on all hyperplanes
            distinct, places = np.unique(keys, return_inverse=True)
            planes = make_planes(distinct, num_bits, seed)
            lengths = ngrams.lengths[first:last].astype("int32")
            products = NUMPY_OPS.reduce_sum(planes.take(places, axis=0), lengths)
            bits[first:last] = np.packbits(products >= 0, axis=1)
    return bits


def make_planes(keys: NDArray, num_bits: int, seed: int) -> NDArray:
    """Generate components of hyperplanes for n-grams. *Shape:* `(n, num_bits)`."""
    steps = np.arange(1, -(-num_bits // 8) + 1, dtype="uint64") * _GOLDEN
    start = keys ^ _mix(np.array([seed], dtype="uint64"))
    drawn = _mix(start[:, np.newaxis] + steps)
    uniform = drawn.astype("<u8").view("uint8").reshape(len(keys), 8 * len(steps))
    return _QUANTILES.take(uniform[:, :num_bits])


def find_rows(
    ngrams: WordNgrams, n_rows: int, seed: int, counted: NDArray | None
) -> NDArray:
    """Find the row whose random vector is the nearest to each word.

    All vectors are rotations of one circle of random numbers: row i has, for an n-gram,
    the number i places after the n-gram's place. Counted n-grams, in ascending order,
    have distinct places; if `counted` is None, n-grams are hashed to at least
    `OPEN_CIRCLE` places. Words without n-grams get row 0. *Shape:* `(words,)`, uint32.
    """
    size = max(n_rows, OPEN_CIRCLE if counted is None else len(counted))
    circle = _make_circle(size, seed)
    turns = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([circle, circle[:n_rows]]), n_rows
    )
    if counted is None:
        places = (ngrams.keys % np.uint64(size)).astype("int64")
    else:
        places = np.searchsorted(counted, ngrams.keys)
    rows = np.zeros(len(ngrams.lengths), dtype="uint32")
    step, end = max(1, _BLOCK // n_rows), 0
    for i, length in enumerate(ngrams.lengths.tolist()):
        end += length
        parts = np.split(places[end - length : end], range(step, length, step))
        sums = sum(turns[part].sum(axis=0, dtype="int32") for part in parts)
        rows[i] = np.argmax(sums)
    return rows


@lru_cache(maxsize=8)
def _make_circle(size: int, seed: int) -> NDArray:
    """Generate the numbers of the circle, times 2¹⁶. *Shape:* `(size,)`, int32."""
    start = _mix(np.array([seed], dtype="uint64"))
    drawn = _mix(start + np.arange(1, size + 1, dtype="uint64") * _GOLDEN)
    uniform = ((drawn >> np.uint64(32)).astype("float64") + 0.5) / 2**32
    return _round_quantiles(uniform.tolist(), _CIRCLE_SCALE, "int32")


def _mix(numbers: NDArray) -> NDArray:
    """Mix the bits of uint64 numbers (the finaliser of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _MIX_1
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _MIX_2
    return numbers ^ (numbers >> np.uint64(31))


def _round_quantiles(uniform: Sequence[float], scale: int, dtype: str) -> NDArray:
    """Round normal quantiles, to be equal on all machines."""
    quantile = NormalDist().inv_cdf
    return np.array([round(quantile(u) * scale) for u in uniform], dtype=dtype)


_QUANTILES = _round_quantiles([(i + 0.5) / 256 for i in range(256)], _SCALE, "float32")
