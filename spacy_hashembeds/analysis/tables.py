"""How the tables of an embedding layer would serve a vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..hashing.collisions import expected_colliding, expected_rows_reached
from .codes import (
    DEGENERATE_SEED,
    SOUND_SEED,
    count_sharing,
    count_sharing_sums,
    join_codes,
)
from .embedders import HashTable, LookupTable, Table, WeightedTable
from .features import Vocabulary


@dataclass(frozen=True, kw_only=True)
class HashMeasures:
    """What the values of a vocabulary get from a hash table, and what to expect.

    attr, rows, num_hashes, seed: See `HashTable`.
    parameters (int): Rows times width.
    values (int): Distinct values.
    load (float): Values for each row.
    rows_never_reached (int): Rows that no value gets.
    expected_rows_never_reached (float): From a uniform hash function.
    rows_reached_by_hash (list[int]): Rows that any value gets from each hash.
    sharing_row_by_hash (list[int]): Values that share their row with another, under
        each hash alone.
    expected_sharing_row (float): The same, from one uniform hash function.
    sharing_code (int): Values that share all their rows with another, in any order, so
        that the table can't tell them apart.
    expected_sharing_code (float): From uniform hash functions.
    with_sound_seed (HashMeasures, optional): If the seed is the degenerate one, what
        the same table would give with another.
    """

    attr: str
    rows: int
    num_hashes: int
    seed: int
    parameters: int
    values: int
    load: float
    rows_never_reached: int
    expected_rows_never_reached: float
    rows_reached_by_hash: list[int]
    sharing_row_by_hash: list[int]
    expected_sharing_row: float
    sharing_code: int
    expected_sharing_code: float
    with_sound_seed: "HashMeasures | None"


@dataclass(frozen=True, kw_only=True)
class LookupMeasures:
    """What the values of a vocabulary get from a lookup table.

    attr (str): The attribute.
    rows (int): Rows, one more than symbols.
    parameters (int): Rows times width.
    values (int): Distinct values.
    unknown_values (int): Values that share the row for unknown ones.
    unknown_share (dict[str, float]): For each split, the share of its tokens that get
        this row, 0 to 1.
    """

    attr: str
    rows: int
    parameters: int
    values: int
    unknown_values: int
    unknown_share: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class WordMeasures:
    """Whole tokens that the tables of an embedder can't tell apart.

    words (int): Distinct words, by ORTH and the attributes of the tables.
    same_attributes (int): Words all of whose attributes equal those of another.
    sharing_codes (int): Words that all tables give the vectors of another. The former
        are among them.
    """

    words: int
    same_attributes: int
    sharing_codes: int


def measure_hash_table(table: HashTable, values: NDArray) -> HashMeasures:
    """Measure a hash table on the distinct values of its attribute.

    values (NDArray): *Shape:* `(n,)`, uint64.
    """
    code = table.find_code(values)
    n_values, rows, num_hashes = len(values), table.rows, table.num_hashes
    sound = None
    if table.seed == DEGENERATE_SEED:
        sound = measure_hash_table(replace(table, seed=SOUND_SEED), values)
    return HashMeasures(
        attr=table.attr,
        rows=rows,
        num_hashes=num_hashes,
        seed=table.seed,
        parameters=rows * table.width,
        values=n_values,
        load=n_values / rows,
        rows_never_reached=rows - len(np.unique(code)),
        expected_rows_never_reached=rows
        - expected_rows_reached(n_values, rows, num_hashes),
        rows_reached_by_hash=[len(np.unique(column)) for column in code.T],
        sharing_row_by_hash=[count_sharing(c.reshape(-1, 1)) for c in code.T],
        expected_sharing_row=expected_colliding(n_values, rows, 1),
        sharing_code=count_sharing_sums(code),
        expected_sharing_code=expected_colliding(n_values, rows, num_hashes),
        with_sound_seed=sound,
    )


def measure_lookup_table(
    table: LookupTable, vocabularies: Mapping[str, Vocabulary]
) -> LookupMeasures:
    """Measure a lookup table on the splits of a corpus.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them, whose
        values are counted.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    return LookupMeasures(
        attr=table.attr,
        rows=table.rows,
        parameters=table.rows * table.width,
        values=len(values),
        unknown_values=int(_are_unknown(table, values).sum()),
        unknown_share=measure_unknown(table, vocabularies),
    )


def measure_unknown(
    table: LookupTable | WeightedTable, vocabularies: Mapping[str, Vocabulary]
) -> dict[str, float]:
    """Measure the tokens of each split whose value is no symbol of a table.

    RETURNS (dict[str, float]): Their share of all tokens, 0 to 1.
    """
    shares = {}
    for split, vocabulary in vocabularies.items():
        values, counts = vocabulary.count_values(table.attr)
        unknown = counts[_are_unknown(table, values)].sum()
        shares[split] = float(unknown / max(counts.sum(), 1))
    return shares


def _are_unknown(table: LookupTable | WeightedTable, values: NDArray) -> NDArray:
    is_unknown: NDArray = table.find_code(values)[:, -1] == 0
    return is_unknown


def measure_words(tables: Sequence[Table], vocabulary: Vocabulary) -> WordMeasures:
    """Count the words of a vocabulary that tables can't tell apart."""
    attributes = vocabulary.get_words([table.attr for table in tables])[:, 1:]
    sharing = 0
    if len(attributes):
        codes = (
            table.identify(column)
            for table, column in zip(tables, attributes.T, strict=True)
        )
        sharing = count_sharing(join_codes(codes))
    return WordMeasures(
        words=len(attributes),
        same_attributes=count_sharing(attributes),
        sharing_codes=sharing,
    )
