"""How the weighted tables of an embedding layer would serve a vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..hashing.collisions import expected_sharing_codes
from .codes import DEGENERATE_SEED, SOUND_SEED, count_sharing, count_sharing_sums
from .embedders import WeightedTable
from .features import Vocabulary
from .tables import measure_unknown


@dataclass(frozen=True, kw_only=True)
class WeightedMeasures:
    """What the values of a vocabulary get from a weighted table.

    attr, rows, num_hashes, seed, same_hash, importance_rows: See `WeightedTable`.
    values (int): Distinct values.
    load (float): Values for each component vector.
    rows_never_reached (int): Component vectors that no value gets.
    rows_reached_by_hash (list[int]): Component vectors that any value gets from each
        hash.
    sharing_components (int): Values that share all component vectors with another, in
        any order, so that only weights tell them apart.
    sharing_weights (int): Values that share their row of weights with another.
    sharing_code (int): Values that share both, the component vectors in the same order,
        so that the table can't tell them apart.
    expected_sharing_code (float): From uniform hash functions.
    unknown_share (dict[str, float]): If symbols have rows of weights: for each split,
        the share of its tokens that get the row of all other values, 0 to 1.
    with_sound_seed (WeightedMeasures, optional): If the seed is the degenerate one,
        what the same table would give with another.
    """

    attr: str
    rows: int
    num_hashes: int
    seed: int
    same_hash: bool
    importance_rows: int
    values: int
    load: float
    rows_never_reached: int
    rows_reached_by_hash: list[int]
    sharing_components: int
    sharing_weights: int
    sharing_code: int
    expected_sharing_code: float
    unknown_share: dict[str, float]
    with_sound_seed: "WeightedMeasures | None"


def measure_weighted_table(
    table: WeightedTable, vocabularies: Mapping[str, Vocabulary]
) -> WeightedMeasures:
    """Measure a weighted table on the splits of a corpus.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them, whose
        values are counted.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    code = table.find_code(values)
    components, weights = code[:, :-1], code[:, -1:]
    has_symbols = table.hashed_weights is None
    sound = None
    if table.seed == DEGENERATE_SEED:
        other = replace(table, seed=SOUND_SEED)
        sound = measure_weighted_table(other, vocabularies)
    return WeightedMeasures(
        attr=table.attr,
        rows=table.rows,
        num_hashes=table.num_hashes,
        seed=table.seed,
        same_hash=table.same_hash,
        importance_rows=table.importance_rows,
        values=len(values),
        load=len(values) / table.rows,
        rows_never_reached=table.rows - len(np.unique(components)),
        rows_reached_by_hash=[len(np.unique(column)) for column in components.T],
        sharing_components=count_sharing_sums(components),
        sharing_weights=count_sharing(weights),
        sharing_code=count_sharing(code),
        expected_sharing_code=_expect_sharing(table, weights),
        unknown_share=measure_unknown(table, vocabularies) if has_symbols else {},
        with_sound_seed=sound,
    )


def _expect_sharing(table: WeightedTable, weights: NDArray) -> float:
    """Expect values to share weights and components, as many as share none for sure."""
    components = 1 if table.same_hash else table.rows**table.num_hashes
    if table.hashed_weights is None:  # a symbol shares its row with no other value
        return expected_sharing_codes(int((weights == 0).sum()), components)
    return expected_sharing_codes(len(weights), components * table.hashed_weights)
