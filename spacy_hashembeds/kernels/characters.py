"""The characters of words as numbers: which there are, and of what kind they are."""

import string
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .distinct import find_distinct

# Rows that a character can have, and one more to choose another among. They have no
# common divisor and their product is above 0x10FFFF, so that no two code points leave
# both remainders in common.
_N_ROWS = 1056
#: The rows of a table of characters.
N_ROWS = _N_ROWS + _N_ROWS + 1

#: How many types of characters there are: upper case, lower case, digits, punctuation.
N_TYPES = 4
_TYPES = {"Lu": 0, "Ll": 1, "Nd": 2, "P": 3}

#: How many kinds of capitalisation: upper case, upper-initial, lower case, mixed.
N_CAPITALISATIONS = 4


class Characters(NamedTuple):
    """The characters of words, one word after the other.

    *Shapes:* the distinct code points, `(c,)`, uint32; which of them each character is,
    `(n,)`, and how many each word has, `(words,)`, int32.
    """

    codes: NDArray
    indices: NDArray
    lengths: NDArray


def split_words(words: Sequence[str], max_chars: int) -> Characters:
    """Split words into characters, of which the first `max_chars` are kept."""
    cut = [word[:max_chars] for word in words]
    lengths = np.fromiter(map(len, cut), dtype="int32", count=len(cut))
    buffer = "".join(cut).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(buffer, dtype="<u4").astype("uint32")
    if len(codes) == 0:
        return Characters(codes, codes.astype("int32"), lengths)
    distinct = find_distinct(codes)
    return Characters(distinct.values, distinct.copies, lengths)


def find_windows(characters: Characters, size: int) -> NDArray:
    """Find what stands in the window that begins at each character of a word.

    For each place of the window a row in a table that has `c + 1` for each place: that
    of the code point, or the last one beyond the word's end. *Shape:* `(n, size)`,
    int32.
    """
    codes, indices, lengths = characters
    n_rows, left = len(codes) + 1, np.repeat(lengths.cumsum(), lengths)
    left -= np.arange(len(indices))
    windows = np.empty((len(indices), size), dtype="int32")
    for place in range(size):
        at_place = np.where(left > place, np.roll(indices, -place), len(codes))
        windows[:, place] = at_place + place * n_rows
    return windows


def find_character_rows(codes: NDArray) -> NDArray:
    """Find the two rows of each code point in a table of `N_ROWS`.

    Its remainders in two divisions: code points have at most one row in common, and
    neighbours, as those of an alphabet mostly are, none. *Shape:* `(c,)` to `(c, 2)`,
    uint32.
    """
    return np.stack([codes % _N_ROWS, _N_ROWS + codes % (_N_ROWS + 1)], axis=1)


def find_types(codes: NDArray) -> NDArray:
    """Put a 1 in the column of each code point's type, none where it is another.

    By Unicode's categories; what ASCII has besides letters and digits is punctuation
    too, such as "$" and "+". *Shape:* `(c,)` to `(c, N_TYPES)`, float32.
    """
    types = [_find_type(chr(code)) for code in codes.tolist()]
    return np.eye(N_TYPES + 1, N_TYPES, dtype="float32")[types]


def _find_type(char: str) -> int:
    category = "P" if char in string.punctuation else unicodedata.category(char)
    return _TYPES.get(category, _TYPES.get(category[0], N_TYPES))


def find_capitalisations(words: Sequence[str]) -> NDArray:
    """Put a 1 in the column of each word's kind, none where no letter is cased.

    By its cased letters alone: "U.S." and "A" are in upper case, "n't" in lower case.
    Upper-initial is any other word that begins with a letter in upper case. *Shape:*
    `(words, N_CAPITALISATIONS)`, float32.
    """
    kinds = np.array([_find_capitalisation(word) for word in words], dtype="intp")
    return np.eye(N_CAPITALISATIONS + 1, N_CAPITALISATIONS, dtype="float32")[kinds]


def _find_capitalisation(word: str) -> int:
    if word.isupper():
        return 0
    if word[:1].istitle():
        return 1
    if word.islower():
        return 2
    return N_CAPITALISATIONS if word.swapcase() == word else 3
