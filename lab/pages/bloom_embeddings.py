"""Compute the tables of bloom-embeddings.md: `python -m lab.pages.bloom_embeddings`.

The example is that of "Compact word vectors with Bloom embeddings" (Honnibal, Boyd and
Warmerdam). Its `mmh3.hash` is `murmurhash.mrmr.hash`, which spaCy brings.
"""

import sys
from collections.abc import Iterator, Sequence
from math import exp, lgamma, log

import numpy as np
from murmurhash import mrmr
from numpy.typing import NDArray
from spacy.strings import get_string_id
from thinc.api import NumpyOps

from .markdown import to_markdown

Table = list[list[str]]

WORDS = """apple strawberry orange juice drink smoothie eat fruit health wellness steak
fries ketchup burger chips lobster caviar service waiter chef""".split()

ROWS = 15

#: The vectors that the blog prints for the words, in their order.
PRINTED = """0.161 0.163 0.128 -0.024 0.157 -0.047 -0.017 -0.023 0.097 -0.124
0.085 0.024 0.000 -0.105 -0.060 -0.053 0.166 0.103 0.011 0.065
0.155 -0.039 0.157 -0.106 0.076 0.127 0.045 -0.084 0.082 -0.037
0.138 0.067 0.066 0.098 -0.017 -0.023 0.039 0.001 -0.016 0.030"""

#: Pairs of hash seeds to try: 0 and 1, 2 and 3, …
DRAWS = 2000


def hash_words(*seeds: int, words: Sequence[str] = WORDS) -> NDArray[np.int64]:
    """Hash words to rows of a small table. *Shape:* `(words, seeds)`."""
    return np.array([[mrmr.hash(word, s) % ROWS for s in seeds] for word in words])


def group_words(rows: NDArray[np.int64]) -> list[list[str]]:
    """Group the words whose vectors are sums of the same rows, in whatever order."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for word, row in zip(WORDS, np.sort(rows, axis=1).tolist(), strict=True):
        groups.setdefault(tuple(row), []).append(word)
    return list(groups.values())


def tabulate_words() -> Table:
    """Give each word's rows, and the vector that the blog prints for it."""
    table = [["word", "row (seed 1)", "row (seed 2)", "sum", "the blog's vector"]]
    vectors = np.array(PRINTED.split()).reshape(-1, 2)
    hashed = hash_words(1, 2)
    for word, (first, second), vector in zip(WORDS, hashed, vectors, strict=True):
        low, high = sorted((first, second))
        total = f"row {low} + row {high}"
        table.append([word, str(first), str(second), total, " ".join(vector)])
    return table


def tabulate_counts() -> Table:
    """Count what is distinct, with the seeds of the text and of its printing loop."""
    table = [["", "seeds 1 and 2", "seeds 0 and 1"]]
    hashed = [hash_words(1, 2), hash_words(0, 1)]
    for i, label in enumerate(("first hash", "second hash")):
        counts = [str(len(set(rows[:, i].tolist()))) for rows in hashed]
        table.append([f"distinct rows, {label}", *counts])
    pairs = [str(len({tuple(row) for row in rows.tolist()})) for rows in hashed]
    table.append(["distinct pairs of rows", *pairs])
    groups = [group_words(rows) for rows in hashed]
    table.append(["distinct sums of two rows", *(str(len(g)) for g in groups)])
    shared = [[" = ".join(g) for g in gs if len(g) > 1] for gs in groups]
    table.append(["words with the same sum", *(", ".join(g) for g in shared)])
    # the largest difference of what is printed from what the best of all tables gives
    printed = np.array(PRINTED.split(), dtype=float).reshape(-1, 2)
    misfits = [f"{np.abs(fit(rows, printed) - printed).max():.4f}" for rows in hashed]
    table.append(["misfit of the printed vectors", *misfits])
    return table


def fit(rows: NDArray[np.int64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the sums of rows that come nearest to vectors, by least squares."""
    uses = np.zeros((len(rows), ROWS))
    for word, row in enumerate(rows):
        np.add.at(uses[word], row, 1)
    return uses @ np.linalg.lstsq(uses, vectors, rcond=None)[0]


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


def tabulate_hash_rows() -> Table:
    """Give the rows and vectors of spaCy's own HashEmbed: the blog's second table."""
    keys = np.array([get_string_id(word) for word in WORDS[:4]], dtype="uint64")
    rows = NumpyOps().hash(keys, 0) % ROWS
    vectors = np.random.RandomState(0).uniform(-0.1, 0.1, (ROWS, 2))[rows].sum(axis=1)
    table = [["word", "ORTH", "rows", "vector"]]
    for word, key, row, (x, y) in zip(WORDS, keys, rows, vectors, strict=False):
        numbers = ", ".join(map(str, row))
        table.append([word, str(key), numbers, f"{x:.3f} {y:.3f}"])
    return table


def tabulate_losses() -> Table:
    """Give the loss of the blog's simulation with 1 to 4 hashes: how well 15 rows learn
    twenty random vectors. Means over twenty seeds of the random numbers.
    """
    table = [["hashes", "after the blog's 20 epochs", "at best"]]
    for n_hashes in range(1, 5):
        losses = np.mean([simulate(n_hashes, seed) for seed in range(20)], axis=0)
        table.append([str(n_hashes), *(f"{loss:.3f}" for loss in losses)])
    return table


def simulate(n_hashes: int, seed: int) -> tuple[float, float]:
    """Run the blog's simulation: squared error of its last epoch, and of a best fit."""
    rng = np.random.RandomState(seed)
    words = [str(i) for i in range(len(WORDS))]
    truth = rng.uniform(-0.1, 0.1, (len(words), 2))
    table = rng.uniform(-0.1, 0.1, (ROWS, 2))
    rows = hash_words(*range(n_hashes), words=words)
    order = np.arange(len(words))
    for _ in range(20):
        rng.shuffle(order)
        loss = 0.0
        for word in order:
            diff = table[rows[word]].sum(axis=0) - truth[word]
            np.subtract.at(table, rows[word], 0.001 * diff)
            loss += float((diff**2).sum())
    return loss, float(((fit(rows, truth) - truth) ** 2).sum())


def make_tables() -> Iterator[tuple[str, str]]:
    """Make the title of each table of the page, and the table in Markdown."""
    yield "Twenty words in fifteen rows", to_markdown(tabulate_words())
    yield "What is unique", to_markdown(tabulate_counts())
    yield "How lucky that is", to_markdown(tabulate_luck())
    yield "What is learned", to_markdown(tabulate_losses())
    yield "HashEmbed", to_markdown(tabulate_hash_rows())


if __name__ == "__main__":
    for title, markdown in make_tables():
        sys.stdout.write(f"{title}\n\n{markdown}\n\n")
