"""Counts of right and wrong entities, document by document."""

import base64
import binascii
import zlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ..files import quote

Key = TypeVar("Key", bound=Hashable)

#: No counts are unpacked to more: some seven million documents'.
MAX_BYTES = 2**28


def tabulate_counts(
    documents: Sequence[Mapping[Key, Sequence[int]]],
) -> tuple[list[Key], np.ndarray]:
    """Make one array of what was counted in each document.

    documents (Sequence[Mapping[Key, Sequence[int]]]): For each document true positives,
        false positives and false negatives under whatever they are counted for. What
        is left out counts 0.
    RETURNS (tuple[list[Key], ndarray]): What is counted for, in the order of first
        sight, and the counts, shape (n_documents, n_keys, 3), dtype int32.
    """
    columns: dict[Key, int] = {}
    for document in documents:
        for key in document:
            columns.setdefault(key, len(columns))
    counts = np.zeros((len(documents), len(columns), 3), dtype="int32")
    for row, document in zip(counts, documents, strict=True):
        for key, outcomes in document.items():
            row[columns[key]] = outcomes
    return list(columns), counts


def pack_counts(counts: np.ndarray) -> str:
    """Write the counts of documents as text, to be kept in JSON.

    counts (ndarray): Shape (n_documents, n_things, 3), as `Run.stack_totals` gives
        them.
    RETURNS (str): Base64 of the numbers in order, as little-endian int32, compressed by
        zlib. Most are 0: they take one or two bytes for each document.
    """
    return base64.b64encode(zlib.compress(counts.astype("<i4").tobytes(), 9)).decode()


def unpack_counts(text: str, n_things: int) -> np.ndarray:
    """Read the counts of documents that `pack_counts` wrote.

    text (str): What it gave.
    n_things (int): How many things were counted in each document.
    RAISES (ValueError): If the text is damaged.
    RETURNS (ndarray): The counts, shape (n_documents, n_things, 3), dtype int32.
    """
    try:
        packed = zlib.decompressobj()
        data = packed.decompress(base64.b64decode(text, validate=True), MAX_BYTES)
        counts = np.frombuffer(data, "<i4").astype("int32").reshape(-1, n_things, 3)
        if not packed.eof or packed.unused_data or (counts < 0).any():
            raise ValueError("they go on, or are negative")
        return counts
    except (TypeError, binascii.Error, zlib.error, ValueError) as error:
        raise ValueError(
            f"The counts of documents should be as `pack_counts` writes those of "
            f"{n_things} things, but are {quote(str(text))}. Run the trial again."
        ) from error


def score_counts(counts: np.ndarray) -> np.ndarray:
    """Score counts with the formulas of `spacy.scorer.PRFScore`.

    counts (ndarray): True positives, false positives and false negatives, shape
        (..., 3).
    RETURNS (ndarray): Precision, recall and F1, 0 to 1, shape (..., 3), dtype float64.
        NaN where all three counts are 0.
    """
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype="float64"), -1, 0)
    precision = tp / (tp + fp + 1e-100)
    recall = tp / (tp + fn + 1e-100)
    f_score = 2 * ((precision * recall) / (precision + recall + 1e-100))
    scores = np.stack([precision, recall, f_score], axis=-1)
    scores[tp + fp + fn == 0] = np.nan
    return scores


def count_gold(counts: np.ndarray) -> np.ndarray:
    """Count the gold entities: the found and the missed ones. *Shape:* (...)."""
    return counts[..., 0] + counts[..., 2]


def average(sums: np.ndarray, absent: int) -> np.ndarray:
    """Average the scores of things, shape (..., n_things, 3), and of absent ones."""
    scores = np.nan_to_num(score_counts(sums))
    return scores.sum(axis=-2) / (scores.shape[-2] + absent)


def average_draws(sums: np.ndarray, is_gold: np.ndarray, absent: int) -> np.ndarray:
    """Average the scores of draws, but of things whose gold ones are not drawn."""
    is_drawn = ~is_gold | (count_gold(sums) > 0)
    scores = np.nan_to_num(score_counts(sums)) * is_drawn[..., None]
    with np.errstate(invalid="ignore"):
        return scores.sum(axis=-2) / (is_drawn.sum(axis=-1, keepdims=True) + absent)
