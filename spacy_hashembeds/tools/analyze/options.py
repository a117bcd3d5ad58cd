"""Sizes of embedding tables that a vocabulary could have: what to choose from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ...hashing.collisions import fewest_rows
from ...hashing.murmur import MAX_HASHES
from ...kernels.distinct import find_distinct
from ...layers.tableembed import HashColumn, HashEmbed
from .codes import SOUND_SEED, count_sharing, find_known
from .features import Vocabulary
from .measures import Vocabularies, measure_words, share_tokens

MIN_FREQS = (1, 2, 3, 5, 10, 20)

#: Larger hash tables are no option. At spaCy's width of 96 this is 384 MB of weights,
#: more than any vocabulary of a corpus needs: with one hash alone, collisions die away
#: so slowly that a few thousand words would ask for millions of rows.
MAX_ROWS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class HashOption:
    """Hash tables that keep collisions within a bound. Lists go by attributes."""

    num_hashes: int
    rows: list[int]
    parameters: int  #: Of all tables.
    sharing_code: list[int]  #: Values that share all rows with another, measured.
    words_sharing_codes: int  #: Words that share all rows of all tables with another.


@dataclass(frozen=True, kw_only=True)
class LookupOption:
    """Lookup tables for one `min_freq`. Lists go by attributes."""

    min_freq: int
    rows: list[int]
    parameters: int  #: Of all tables.
    unknown_values: list[int]  #: Training values that share the row for unknown ones.
    unknown_share: list[dict[str, float]]  #: Of the tokens of each split, 0 to 1.


@dataclass(frozen=True, kw_only=True)
class AttributeUse:
    """Use of an attribute beside the others."""

    attr: str
    values: int  #: Distinct values in training.
    merged_without: int  #: Words that only this attribute tells apart from another.
    #: For each other split, how many of its words that training has not shown have a
    #: value here that it has shown, 0 to 1. None if there are no such words.
    known_of_new: dict[str, float | None]
    says_nothing: str | None  #: Why the attribute could go at no loss, None if not.


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
        tables = [
            _find_smallest(attr, values[i], width, num_hashes, SOUND_SEED + i, bound)
            for i, attr in enumerate(attrs)
        ]
        rows = [table.n_rows for table in tables]
        if max(rows) > MAX_ROWS:
            continue
        pairs = zip(tables, values, strict=True)
        sharing = [count_sharing(table.identify(keys)) for table, keys in pairs]
        words = measure_words(tables, vocabulary)["sharing_codes"]
        options.append(
            HashOption(
                num_hashes=num_hashes,
                rows=rows,
                parameters=width * sum(rows),
                sharing_code=sharing,
                words_sharing_codes=words,
            )
        )
    return options


def _find_smallest(
    attr: str, values: NDArray, width: int, num_hashes: int, seed: int, bound: float
) -> HashColumn:
    limit = bound * len(values)
    rows = fewest_rows(len(values), num_hashes, limit)
    while True:
        unit = 10 ** max(len(str(rows)) - 2, 0)
        rows = -(-rows // unit) * unit
        layer: Model = HashEmbed(width, rows, num_hashes=num_hashes, seed=seed)
        table = HashColumn(layer, attr)
        if rows > MAX_ROWS or count_sharing(table.identify(values)) <= limit:
            return table
        rows += 1


def find_lookup_options(
    vocabularies: Vocabularies, attrs: Sequence[str], *, width: int
) -> list[LookupOption]:
    """Measure the lookup tables that `cut_symbols` would make, by `min_freq`."""
    train, options = vocabularies["train"], []
    for min_freq in MIN_FREQS:
        rows, unknown, shares = [], [], []
        for attr in attrs:
            values, counts = train.count_values(attr)
            known = values[counts >= min_freq]
            rows.append(1 + len(known))
            unknown.append(len(values) - len(known))
            is_unknown = partial(np.isin, test_elements=known, invert=True, kind="sort")
            shares.append(share_tokens(vocabularies, attr, is_unknown))
        options.append(
            LookupOption(
                min_freq=min_freq,
                rows=rows,
                parameters=width * sum(rows),
                unknown_values=unknown,
                unknown_share=shares,
            )
        )
    return options


def measure_attributes(
    vocabularies: Vocabularies, attrs: Sequence[str], settable: Collection[str] = ()
) -> list[AttributeUse]:
    """Measure what each attribute adds to the others. None of the settable could go."""
    train = vocabularies["train"]
    words = train.get_words(attrs)[:, 1:]
    others = {split: v for split, v in vocabularies.items() if split != "train"}
    uses = []
    for index, attr in enumerate(attrs):
        without = words.copy()
        without[:, index] = 0
        before = [other for other in attrs[:index] if other not in settable]
        useless = None if attr in settable else _why_useless(train, attr, before)
        known = {split: _share_known(train, v, attr) for split, v in others.items()}
        uses.append(
            AttributeUse(
                attr=attr,
                values=len(train.count_values(attr)[0]),
                merged_without=count_sharing(without) - count_sharing(words),
                known_of_new=known,
                says_nothing=useless,
            )
        )
    return uses


def _share_known(train: Vocabulary, other: Vocabulary, attr: str) -> float | None:
    orths, values = other.get_words([attr]).T
    new = values[~find_known(orths, train.words[:, 0])]
    if len(new) == 0:
        return None
    return float(find_known(new, train.count_values(attr)[0]).mean())


def _why_useless(train: Vocabulary, attr: str, before: Sequence[str]) -> str | None:
    n_values = len(train.count_values(attr)[0])
    if n_values == 1:
        return "all words have one value"
    for other in before:
        pairs = find_distinct(train.get_columns([other, attr])).values
        if len(pairs) == n_values == len(train.count_values(other)[0]):
            return f"it tells the same words apart as {other}"
    return None
