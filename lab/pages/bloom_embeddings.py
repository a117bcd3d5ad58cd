"""Compute the table of bloom-embeddings.md: `python -m lab.pages.bloom_embeddings`.

The example is that of "Compact word vectors with Bloom embeddings" (Honnibal, Boyd and
Warmerdam). Its `mmh3.hash` is `murmurhash.mrmr.hash`, which spaCy brings.
"""

import sys
from math import exp, lgamma, log

import numpy as np
from murmurhash import mrmr
from numpy.typing import NDArray

from .markdown import to_markdown

Table = list[list[str]]

WORDS = """apple strawberry orange juice drink smoothie eat fruit health wellness steak
fries ketchup burger chips lobster caviar service waiter chef""".split()

ROWS = 15

#: Pairs of hash seeds to try: 0 and 1, 2 and 3, …
DRAWS = 2000


def hash_words(*seeds: int) -> NDArray[np.int64]:
    """Hash the words to rows of a small table. *Shape:* `(words, seeds)`."""
    return np.array([[mrmr.hash(word, s) % ROWS for s in seeds] for word in WORDS])


def group_words(rows: NDArray[np.int64]) -> list[list[str]]:
    """Group the words whose vectors are sums of the same rows, in whatever order."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for word, row in zip(WORDS, np.sort(rows, axis=1).tolist(), strict=True):
        groups.setdefault(tuple(row), []).append(word)
    return list(groups.values())


def tabulate_luck() -> Table:
    """Say how often twenty words come out apart, over many pairs of seeds."""
    seeds = range(2 * DRAWS)
    draws = hash_words(*seeds).reshape(len(WORDS), DRAWS, 2).transpose(1, 0, 2)
    pairs = np.mean([len({tuple(r) for r in d.tolist()}) == len(WORDS) for d in draws])
    sums = np.mean([len(group_words(draw)) == len(WORDS) for draw in draws])
    # Ordered pairs are equally likely; unordered ones are not, if both rows are one.
    ordered = np.full(ROWS**2, 1 / ROWS**2)
    unequal = ROWS * (ROWS - 1) // 2
    unordered = np.array([1 / ROWS**2] * ROWS + [2 / ROWS**2] * unequal)
    return [
        ["all twenty words have", f"of {DRAWS} pairs of seeds", "expected"],
        ["a pair of rows of their own", f"{pairs:.1%}", f"{expect_apart(ordered):.1%}"],
        ["a sum of their own", f"{sums:.1%}", f"{expect_apart(unordered):.1%}"],
    ]


def expect_apart(chances: NDArray[np.float64]) -> float:
    """Give the chance that the words all draw different things, of unequal chances.

    It is n! times the elementary symmetric polynomial of degree n of the chances.
    """
    n = len(WORDS)
    sums = np.zeros(n + 1)
    sums[0] = 1.0
    for chance in chances:
        sums[1:] += chance * sums[:-1]
    return exp(lgamma(n + 1) + log(sums[n]))


if __name__ == "__main__":
    sys.stdout.write(f"{to_markdown(tabulate_luck())}\n")
