"""Words that are put in the place of others, drawn for Shuffle + Random."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What became of a token: the word is the one that was there, is that of another token
#: of its text, or of another text.
INTACT, SHUFFLED, RANDOM = CLASSES = (0, 1, 2)


def corrupt(
    words: NDArray,
    lengths: NDArray,
    *,
    shuffle: float,
    random: float,
    draws: Any = np.random,
) -> tuple[NDArray, NDArray]:
    """Draw which words of a batch of texts are replaced, and by which.

    A shuffled token gets the word of another token of its text, each equally likely. A
    random one, drawn of those that are not shuffled, gets that of a token of the other
    texts, each equally likely, so that random words are as frequent as in the batch.
    Where there is no such token, or the word drawn is the one that was there, the token
    is intact. Numpy's global generator draws, as in Thinc's dropout, or another.

    *Shapes:* words of all texts, `(n,)`, and texts' `lengths` to the token whose word
    stands in each place, and its class, `(n,)`, integers.
    """
    n, places = len(words), np.arange(len(words))
    sizes = np.repeat(lengths, lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    is_shuffled = draws.uniform(size=n) < shuffle
    is_random = ~is_shuffled & (draws.uniform(size=n) < random)
    # So many tokens further on, and from the end on at the beginning. With none to
    # choose from, one round: to the token itself.
    within = 1 + draws.randint(np.maximum(sizes - 1, 1))
    beyond = starts + sizes + draws.randint(np.maximum(n - sizes, 1))
    sources = np.where(is_shuffled, starts + (places - starts + within) % sizes, places)
    sources = np.where(is_random & (sizes < n), beyond % max(n, 1), sources)
    labels = np.where(is_shuffled, SHUFFLED, np.where(is_random, RANDOM, INTACT))
    labels[words[sources] == words] = INTACT
    return sources, labels
