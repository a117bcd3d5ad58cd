"""Sizes of embedding tables that a vocabulary could have, and what attributes add."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from numpy.typing import NDArray
from thinc.api import Model

from ...hashing.collisions import fewest_rows
from ...hashing.murmur import MAX_HASHES
from ...kernels.distinct import find_distinct
from ...layers.tableembed import HashColumn, HashEmbed
from .codes import SOUND_SEED, count_sharing
from .features import Vocabulary
from .measures import Vocabularies

MIN_FREQS = (1, 2, 3, 5, 10, 20)

#: Larger hash tables are no option. At spaCy's width of 96 this is 384 MB of weights,
#: more than any vocabulary of a corpus needs: with one hash alone, collisions die away
#: so slowly that a few thousand words would ask for millions of rows.
MAX_ROWS = 1_000_000


class HashOption(NamedTuple):
    """Hash tables that keep collisions within a bound: see `find_hash_options`."""

    num_hashes: int
    rows: list[int]  # for each attribute
    parameters: int  # of all tables


class AttributeUse(NamedTuple):
    """Use of an attribute beside the others."""

    attr: str
    says_nothing: str | None  # why the attribute could go at no loss, None if not


def find_hash_options(
    vocabulary: Vocabulary, attrs: Sequence[str], *, width: int, bound: float
) -> list[HashOption]:
    """Find, for each number of hashes, the smallest tables of up to `MAX_ROWS` in which
    the expected and the measured share of values with another's code are within a
    bound. Rows are rounded up to two figures.
    """
    values = [vocabulary.count_values(attr)[0] for attr in attrs]
    options = []
    for num_hashes in range(1, MAX_HASHES + 1):
        rows = [
            _find_fewest(keys, num_hashes, seed, bound)
            for seed, keys in enumerate(values, start=SOUND_SEED)
        ]
        if max(rows) <= MAX_ROWS:
            options.append(HashOption(num_hashes, rows, width * sum(rows)))
    return options


def _find_fewest(values: NDArray, num_hashes: int, seed: int, bound: float) -> int:
    limit = bound * len(values)
    rows = fewest_rows(len(values), num_hashes, limit)
    while True:
        unit = 10 ** max(len(str(rows)) - 2, 0)
        rows = -(-rows // unit) * unit
        layer: Model = HashEmbed(1, rows, num_hashes=num_hashes, seed=seed)
        table = HashColumn(layer, "")
        if rows > MAX_ROWS or count_sharing(table.identify(values)) <= limit:
            return rows
        rows += 1


def measure_attributes(
    vocabularies: Vocabularies, attrs: Sequence[str], settable: Collection[str] = ()
) -> list[AttributeUse]:
    """Find what attributes add to others. None of the settable could go."""
    uses = []
    for index, attr in enumerate(attrs):
        before = [other for other in attrs[:index] if other not in settable]
        could_go = attr not in settable
        why = _why_useless(vocabularies["train"], attr, before) if could_go else None
        uses.append(AttributeUse(attr, why))
    return uses


def _why_useless(train: Vocabulary, attr: str, before: Sequence[str]) -> str | None:
    n_values = len(train.count_values(attr)[0])
    if n_values == 1:
        return "all words have one value"
    for other in before:
        pairs = find_distinct(train.get_columns([other, attr])).values
        if len(pairs) == n_values == len(train.count_values(other)[0]):
            return f"it tells the same words apart as {other}"
    return None
