"""Sizes of embedding tables that a vocabulary could have: what to choose from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..architectures.embedders.table_kinds import HashTable, LookupTable
from ..hashing.collisions import expected_colliding, fewest_rows
from ..hashing.murmur import MAX_HASHES
from ..kernels.distinct import find_distinct_rows
from .codes import SOUND_SEED, count_sharing, count_sharing_sums, find_known
from .features import Vocabulary
from .measures import measure_table, measure_words

MIN_FREQS = (1, 2, 3, 5, 10, 20)

#: Larger hash tables are no option. At spaCy's width of 96 this is 384 MB of weights,
#: more than any vocabulary of a corpus needs: with one hash alone, collisions die away
#: so slowly that a few thousand words would ask for millions of rows.
MAX_ROWS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class HashOption:
    """Hash tables that keep collisions within a bound. Lists are in attributes' order.

    num_hashes (int): How many rows each value gets, in all tables.
    rows (list[int]): Rows of each table.
    parameters (int): Rows times width, of all tables.
    values (list[int]): Distinct values of each attribute.
    load (list[float]): Values for each row.
    sharing_code (list[int]): Values that share all rows with another, measured.
    expected_sharing_code (list[float]): The same, expected.
    words_sharing_codes (int): Words that share all rows of all tables with another.
    """

    num_hashes: int
    rows: list[int]
    parameters: int
    values: list[int]
    load: list[float]
    sharing_code: list[int]
    expected_sharing_code: list[float]
    words_sharing_codes: int


@dataclass(frozen=True, kw_only=True)
class LookupOption:
    """Lookup tables for one `min_freq`. Lists are in attributes' order.

    min_freq (int): How often a value must be seen to get a row of its own.
    rows (list[int]): Rows of each table.
    parameters (int): Rows times width, of all tables.
    unknown_values (list[int]): Training values that share the row for unknown ones.
    unknown_share (list[dict[str, float]]): Tokens that get this row, as a share of all
        in each split, 0 to 1.
    """

    min_freq: int
    rows: list[int]
    parameters: int
    unknown_values: list[int]
    unknown_share: list[dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class AttributeUse:
    """What an attribute adds to the others.

    attr (str): Its name.
    values (int): Distinct values in training.
    merged_without (int): Words that only this attribute tells apart from another.
    known_of_new (dict[str, float | None]): For each other split, how many of its words
        that training has not shown have a value here that it has shown, 0 to 1. None
        if there are no such words.
    says_nothing (str, optional): Why the attribute could go at no loss, None if not.
    """

    attr: str
    values: int
    merged_without: int
    known_of_new: dict[str, float | None]
    says_nothing: str | None


def find_hash_options(
    vocabulary: Vocabulary, attrs: Sequence[str], *, width: int, bound: float
) -> list[HashOption]:
    """Find the smallest hash tables that keep collisions within a bound.

    bound (float): How many of an attribute's values may share their whole code, as a
        share of them, above 0. Both the expected and the measured number keep to it.
    RETURNS (list[HashOption]): One for each number of hashes that can do it with at
        most `MAX_ROWS` in each table. Rows are rounded up to two figures.
    """
    values = [vocabulary.count_values(attr)[0] for attr in attrs]
    options = []
    for num_hashes in range(1, MAX_HASHES + 1):
        tables = [
            _find_smallest(attr, values[i], width, num_hashes, SOUND_SEED + i, bound)
            for i, attr in enumerate(attrs)
        ]
        if all(table.rows <= MAX_ROWS for table in tables):
            options.append(_describe(tables, values, vocabulary))
    return options


def find_lookup_options(
    vocabularies: Mapping[str, Vocabulary], attrs: Sequence[str], *, width: int
) -> list[LookupOption]:
    """Measure lookup tables for several values of `min_freq`.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them.
    """
    options = []
    for min_freq in MIN_FREQS:
        train = vocabularies["train"]
        tables = [cut_table(train, attr, width, min_freq) for attr in attrs]
        measured = [measure_table(table, vocabularies) for table in tables]
        options.append(
            LookupOption(
                min_freq=min_freq,
                rows=[table.rows for table in tables],
                parameters=sum(table.rows * table.width for table in tables),
                unknown_values=[of_table["unknown_values"] for of_table in measured],
                unknown_share=[of_table["unknown_share"] for of_table in measured],
            )
        )
    return options


def cut_table(
    vocabulary: Vocabulary, attr: str, width: int, min_freq: int
) -> LookupTable:
    """Make the lookup table that `cut_symbols` would make."""
    values, counts = vocabulary.count_values(attr)
    return LookupTable.make(attr, width, values[counts >= min_freq])


def measure_attributes(
    vocabularies: Mapping[str, Vocabulary], attrs: Sequence[str]
) -> list[AttributeUse]:
    """Measure what each attribute adds to the others.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them.
    """
    train = vocabularies["train"]
    words = train.get_words(attrs)[:, 1:]
    together = count_sharing(words)
    # without any attribute all words are one
    one = np.ones((len(words), 1), dtype="uint64")
    uses = []
    for index, attr in enumerate(attrs):
        others = np.delete(words, index, axis=1)
        merged = count_sharing(others if others.size else one)
        values, _ = train.count_values(attr)
        uses.append(
            AttributeUse(
                attr=attr,
                values=len(values),
                merged_without=merged - together,
                known_of_new={
                    split: _share_known(train, vocabulary, attr)
                    for split, vocabulary in vocabularies.items()
                    if split != "train"
                },
                says_nothing=_why_useless(train, attr, attrs[:index]),
            )
        )
    return uses


def _find_smallest(
    attr: str, values: NDArray, width: int, num_hashes: int, seed: int, bound: float
) -> HashTable:
    limit = bound * len(values)
    rows = fewest_rows(len(values), num_hashes, limit) if len(values) else 1
    while True:
        rows = _round_up(rows)
        table = HashTable(
            attr=attr, rows=rows, width=width, num_hashes=num_hashes, seed=seed
        )
        is_hopeless = rows > MAX_ROWS
        if is_hopeless or count_sharing_sums(table.find_code(values)) <= limit:
            return table
        rows += 1


def _round_up(rows: int) -> int:
    unit = 10 ** max(len(str(rows)) - 2, 0)
    return -(-rows // unit) * unit


def _describe(
    tables: list[HashTable], values: list[NDArray], vocabulary: Vocabulary
) -> HashOption:
    pairs = list(zip(tables, values, strict=True))
    return HashOption(
        num_hashes=tables[0].num_hashes,
        rows=[table.rows for table in tables],
        parameters=sum(table.rows * table.width for table in tables),
        values=[len(v) for v in values],
        load=[len(v) / table.rows for table, v in pairs],
        sharing_code=[count_sharing_sums(table.find_code(v)) for table, v in pairs],
        expected_sharing_code=[
            expected_colliding(len(v), table.rows, table.num_hashes)
            for table, v in pairs
        ],
        words_sharing_codes=measure_words(tables, vocabulary)["sharing_codes"],
    )


def _share_known(train: Vocabulary, other: Vocabulary, attr: str) -> float | None:
    """Give the share of another split's new words with a known value."""
    orths, values = other.get_words([attr]).T
    new = values[~find_known(orths, train.words[:, 0])]
    if len(new) == 0:
        return None
    return float(find_known(new, train.count_values(attr)[0]).mean())


def _why_useless(
    vocabulary: Vocabulary, attr: str, before: Sequence[str]
) -> str | None:
    n_values = len(vocabulary.count_values(attr)[0])
    if n_values == 1:
        return "all words have one value"
    for other in before:
        pairs = find_distinct_rows(vocabulary.get_columns([other, attr])).values
        if len(pairs) == n_values == len(vocabulary.count_values(other)[0]):
            return f"it tells the same words apart as {other}"
    return None
