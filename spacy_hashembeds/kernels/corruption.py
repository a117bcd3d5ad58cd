"""Words that are put in the place of others, drawn for Shuffle + Random."""

import numpy as np
from numpy.typing import NDArray

#: What became of a token: the word is the one that was there, is that of another token
#: of its text, or of another text.
INTACT, SHUFFLED, RANDOM = CLASSES = (0, 1, 2)


def corrupt(
    words: NDArray, lengths: NDArray, *, shuffle: float, random: float
) -> tuple[NDArray, NDArray]:
    """Draw which words of a batch of texts are replaced, and by which.

    A shuffled token gets the word of another token of its text, each equally likely. A
    random one gets that of a token of the other texts, each equally likely, so that
    random words are as frequent as they are in the batch. Where a text has no other
    token, or the batch no other text, or where the word that was drawn is the one that
    was there, nothing is changed, and the token is intact. Numpy's global generator
    draws, as in Thinc's dropout.

    words (NDArray): The words of all texts, of any kind. *Shape:* `(n,)`.
    lengths (NDArray): How many words each text has. *Shape:* `(texts,)`.
    shuffle (float): The share of tokens to be shuffled.
    random (float): The share of the others to be random.
    RETURNS (tuple): For each token the one whose word stands in its place, which for
        most is itself; and its class. *Shapes:* `(n,)`, integers.
    """
    n, places = len(words), np.arange(len(words))
    sizes = np.repeat(lengths, lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    is_shuffled = np.random.uniform(size=n) < shuffle
    is_random = ~is_shuffled & (np.random.uniform(size=n) < random)
    # So many tokens further on, and from the end on at the beginning. With none to
    # choose from, one round: to the token itself.
    within = 1 + np.random.randint(np.maximum(sizes - 1, 1))
    beyond = starts + sizes + np.random.randint(np.maximum(n - sizes, 1))
    sources = np.where(is_shuffled, starts + (places - starts + within) % sizes, places)
    sources = np.where(is_random & (sizes < n), beyond % max(n, 1), sources)
    labels = np.where(is_shuffled, SHUFFLED, np.where(is_random, RANDOM, INTACT))
    labels[words[sources] == words] = INTACT
    return sources, labels
