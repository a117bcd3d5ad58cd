"""How the hybrid tables of an embedding layer would serve a vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hashing.collisions import expected_colliding
from .codes import count_sharing_sums
from .features import Vocabulary
from .hybrid_table import HybridTable


@dataclass(frozen=True, kw_only=True)
class HybridMeasures:
    """What the values of a vocabulary get from a hybrid table.

    attr, rows, own_rows, num_hashes, seed: See `HybridTable`.
    values (int): Distinct values.
    hashed_values (int): Those that have no row of their own.
    rows_never_reached (int): Rows that no value gets.
    sharing_code (int): Hashed values that share all rows with another, in any order, so
        that the table can't tell them apart.
    expected_sharing_code (float): From uniform hash functions.
    hashed_share (dict[str, float]): For each split, the share of its tokens whose value
        is hashed, 0 to 1.
    """

    attr: str
    rows: int
    own_rows: int
    num_hashes: int
    seed: int
    values: int
    hashed_values: int
    rows_never_reached: int
    sharing_code: int
    expected_sharing_code: float
    hashed_share: dict[str, float]


def measure_hybrid_table(
    table: HybridTable, vocabularies: Mapping[str, Vocabulary]
) -> HybridMeasures:
    """Measure a hybrid table, which has its symbols, on the splits of a corpus.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them, whose
        values are counted.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    code, is_hashed = table.find_code(values), _are_hashed(table, values)
    n_hashed = int(is_hashed.sum())
    return HybridMeasures(
        attr=table.attr,
        rows=table.rows,
        own_rows=table.own_rows,
        num_hashes=table.num_hashes,
        seed=table.seed,
        values=len(values),
        hashed_values=n_hashed,
        rows_never_reached=table.rows - len(np.unique(code[code < table.rows])),
        sharing_code=count_sharing_sums(code[is_hashed]),
        expected_sharing_code=expected_colliding(
            n_hashed, table.rows - table.own_rows, table.num_hashes
        ),
        hashed_share={
            split: _measure_hashed(table, vocabulary)
            for split, vocabulary in vocabularies.items()
        },
    )


def _measure_hashed(table: HybridTable, vocabulary: Vocabulary) -> float:
    values, counts = vocabulary.count_values(table.attr)
    return float(counts[_are_hashed(table, values)].sum() / max(counts.sum(), 1))


def _are_hashed(table: HybridTable, values: NDArray) -> NDArray:
    return table.find_own(values) == table.own_rows
