"""How many tokens get their chunk tag: outside, single, begin, inside, end.

The tags are those of sequence labelling without types (Li, Fu and Ma, "Why Attention?"
2020, §4.6). A predicted tag is that of the predicted entity that the token is in.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.training import Example

from .matching import Matches, SpanKey
from .scorer import ALL, match_entities

#: The tags, as they are numbered here.
CHUNKS = ("O", "S", "B", "I", "E")
_OUTSIDE, _SINGLE, _BEGIN, _INSIDE, _END = range(len(CHUNKS))


class ChunkCounter:
    """Counts the tokens of each chunk tag, and those that get it."""

    def __init__(self) -> None:
        self._total, self._found = np.zeros((2, len(CHUNKS)), dtype="int64")

    def add(self, example: Example, matches: Matches) -> None:
        """Count the tokens of a doc, but for those whose annotation is missing.

        example (Example): The doc.
        matches (Matches): Its entities, all of them.
        """
        is_missing = example.reference.to_array(["ENT_IOB"]).reshape(-1) == 0
        gold = tag_tokens(len(is_missing), (*matches.correct, *matches.missed))
        predicted = tag_tokens(
            len(is_missing), (*matches.ignored, *matches.spurious, *matches.correct)
        )
        self._total += _count(gold[~is_missing])
        self._found += _count(gold[~is_missing & (gold == predicted)])

    def score(self) -> dict[str, dict[str, float | None]]:
        """Score what was counted.

        RETURNS (dict[str, dict]): For each of `CHUNKS` its `support`, how many tokens
            have it, and `recall`, the share of these that get it, or None.
        """
        counts = zip(CHUNKS, self._total.tolist(), self._found.tolist(), strict=True)
        return {
            tag: {"support": total, "recall": found / total if total else None}
            for tag, total, found in counts
        }


def score_chunks(examples: Iterable[Example]) -> Mapping[str, Mapping[str, Any]]:
    """Score the chunk tags of predicted docs, as `ChunkCounter` does."""
    counter = ChunkCounter()
    for example in examples:
        matches = match_entities(example, ())
        if matches:
            counter.add(example, matches[ALL])
    return counter.score()


def tag_tokens(n_tokens: int, spans: Iterable[SpanKey]) -> NDArray[np.int64]:
    """Give each token of a doc the number of its chunk tag, shape `(n_tokens,)`."""
    tags = np.full(n_tokens, _OUTSIDE)
    for _, start, end in spans:
        if start == end:  # aligned with none of the tokens
            continue
        tags[start:end] = _INSIDE
        tags[start], tags[end - 1] = _BEGIN, _END
        if end - start == 1:
            tags[start] = _SINGLE
    return tags


def _count(tags: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(tags, minlength=len(CHUNKS))
