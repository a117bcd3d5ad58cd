"""Closed-form expressions for expected collisions.

Hash functions are assumed to be uniform and independent. A value hashed k times into a
table of n rows gets k rows, some of which may be equal. The sum of rows does not depend
on their order: the code of a value is the multiset of its rows.

Sources: Svenstrup et al., "Hash Embeddings for Efficient Word Representations" (2017),
Theorem 4.1, for one hash. Miranda et al., "Multi hash embeddings in spaCy", §3.2, for
several hashes; the report counts n^k codes, as if order mattered, and misprints its
example.
"""

from bisect import bisect_left
from collections.abc import Iterator
from math import comb, expm1, factorial, log1p, prod

# Larger than any table.
_MOST_ROWS = 2**62


def code_collision_probability(values: int, rows: int, num_hashes: int) -> float:
    """Return the exact probability that one of V values shares its code.

    With k hashes into n rows, this is the sum of p (1 - (1-p)^(V-1)) over all multisets
    with their probabilities p. For many rows and few collisions it is about k! V / n^k,
    or k! times the value in §3.2 of the report, since different orders of the same rows
    collide. With one hash, it is Theorem 4.1 of Svenstrup et al.
    """
    total = 0.0
    for repeats in _partitions(num_hashes):
        orders = factorial(num_hashes) / prod(map(factorial, repeats))
        probability = orders / rows**num_hashes
        multisets = _count_multisets(rows, repeats)
        total += multisets * probability * _share_probability(probability, values)
    return total


def expected_colliding(values: int, rows: int, num_hashes: int) -> float:
    """Return the expected number of values that share their code: equation 3."""
    return values * code_collision_probability(values, rows, num_hashes)


def expected_sharing_codes(values: int, codes: int) -> float:
    """Return the expected number of values that share one of equally likely codes:
    V (1 - (1 - 1/n)^(V-1)), as in Theorem 4.1.
    """
    return values * _share_probability(1 / codes, values)


def expected_rows_reached(values: int, rows: int, num_hashes: int) -> float:
    """Return the expected number of rows in use: n (1 - (1 - 1/n)^(k V))."""
    if rows == 1:
        return float(values > 0)
    return -rows * expm1(num_hashes * values * log1p(-1 / rows))


def min_rows(values: int, num_hashes: int, max_colliding: float) -> int:
    """Find the fewest rows with at most `max_colliding` expected colliding values."""

    def is_enough(rows: int) -> bool:
        return expected_colliding(values, rows, num_hashes) <= max_colliding

    return 1 + bisect_left(range(1, _MOST_ROWS), True, key=is_enough)


def _share_probability(probability: float, values: int) -> float:
    """Return the probability that another value has a code of this probability."""
    others = max(values - 1, 0)
    if probability >= 1:
        return float(others > 0)
    return -expm1(others * log1p(-probability))


def _partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield all partitions of an integer into positive integers, ignoring order."""
    if total == 0:
        yield ()
    for first in range(min(total, largest or total), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)


def _count_multisets(rows: int, repeats: tuple[int, ...]) -> int:
    """Count the multisets of rows with the multiplicities `repeats`."""
    count, left = 1, rows
    for times in sorted(set(repeats)):
        same = repeats.count(times)
        count *= comb(max(left, 0), same)
        left -= same
    return count
