"""Word n-grams of a batch of texts as 64-bit keys, and random snippets of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sums import NUMPY_OPS

#: The most words that an n-gram of a classifier may have. Time and memory grow with it.
MAX_NGRAM_SIZE = 100

#: The most n-grams of a snippet.
MAX_SNIPPET = 2**31 - 2


class Ngrams(NamedTuple):
    """The n-grams of several texts, one text after the other; how many each has.

    *Shapes:* keys `(n,)`, uint64, and lengths `(texts,)`, int32.
    """

    keys: NDArray
    lengths: NDArray

    def find_texts(self) -> NDArray:
        """Say which text each n-gram is of. *Shape:* `(n,)`, int32."""
        return np.repeat(np.arange(len(self.lengths), dtype="int32"), self.lengths)

    def select(self, chosen: NDArray) -> "Ngrams":
        """Leave out all n-grams but the chosen. *Shape:* `(n,)`, bool."""
        return Ngrams(self.keys[chosen], sum_by_text(chosen, self.lengths))


def hash_ngrams(words: Any, lengths: Any, ngram_size: int) -> Ngrams:
    """Find all sequences of 1 to `ngram_size` words within each text.

    They stand in the order of their first words, and of those that begin with the same
    word the shorter come first: of "a b c" with two words at most, these are a, a b, b,
    b c, c. Consecutive n-grams are therefore a stretch of the text. A single word is
    its own key, and a sequence is hashed as `spacy.TextCatBOW.v3` hashes it (murmur, 64
    bits).

    *Shapes:* `(words,)`, uint64, of all texts, and `(texts,)`.
    """
    # no n-gram is longer than a text, however many words it may have
    ngram_size = min(ngram_size, int(lengths.max(initial=1)))
    left = np.repeat(lengths.cumsum(), lengths) - np.arange(len(words))
    fits = np.arange(ngram_size) < left[:, np.newaxis]
    keys = np.zeros(fits.shape, dtype="uint64")
    keys[:, 0] = words
    for size in range(2, ngram_size + 1):
        # those that begin in one text and end in the next do not fit
        keys[: 1 - size, size - 1] = NUMPY_OPS.ngrams(size, words)
    return Ngrams(keys[fits], sum_by_text(np.minimum(left, ngram_size), lengths))


def cut_snippets(ngrams: Ngrams, shortest: int, longest: int) -> Ngrams:
    """Cut a random snippet of consecutive n-grams out of each text.

    Each length from `shortest` to `longest` is equally likely, and so is each place. A
    text that has no more n-grams than were drawn stays whole. Numpy's global generator
    draws, as in Thinc's dropout.
    """
    lengths = ngrams.lengths
    drawn = np.random.randint(shortest, longest + 1, size=len(lengths))
    kept = np.minimum(drawn, lengths).astype("int32")
    starts = np.random.randint(0, lengths - kept + 1) + lengths.cumsum() - lengths
    shifts = starts - (kept.cumsum() - kept)
    indices = np.arange(kept.sum()) + np.repeat(shifts, kept)
    return Ngrams(ngrams.keys[indices], kept)


def sum_by_text(values: NDArray, lengths: NDArray) -> NDArray:
    """Sum what each text has. *Shape:* `(items,)` to `(texts,)`, int32."""
    # `reduceat` can't sum no items
    sums = np.concatenate([[0], values.cumsum()])
    ends = lengths.cumsum()
    return (sums[ends] - sums[ends - lengths]).astype("int32")
