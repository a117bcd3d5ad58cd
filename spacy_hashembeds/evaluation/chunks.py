"""How many tokens get their chunk tag: outside, single, begin, inside, end.

The tags are those of sequence labelling without types (Li, Fu and Ma, "Why Attention?"
2020, §4.6). A predicted tag is that of the predicted entity that the token is in.

In an ablation, the pipeline runs once more for each part of its encoder's output, with
zeros in the place of all others, and is not trained for it (the same, table 5).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.training import Example
from thinc.api import Model

from ..architectures.encoders.parts import find_layer, find_parts
from ..layers.columns import leaving_alone
from .scorer import ALL, Matches, SpanKey, match_entities
from .sources import Inputs, Source

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


def find_ablated(source: Source) -> Model:
    """Find the layer whose parts are left alone.

    source (Source): A pipeline.
    RAISES (ValueError): If it is none, or has no such layer, or several.
    """
    if not source.is_pipeline:
        raise ValueError(
            "'ablation' (--ablation) runs a pipeline with parts of its encoder alone, "
            f"but '{source.name}' are predictions. Give the pipeline that made them."
        )
    return find_layer(source.docs)


def ablate(layer: Model, inputs: Inputs) -> dict[str, Mapping[str, Mapping[str, Any]]]:
    """Score chunk tags with each part of the output alone.

    layer (Model): From `find_ablated`.
    inputs (Inputs): With its pipeline.
    RETURNS (dict[str, dict]): By the name of the part, see `find_parts`, the scores of
        `score_chunks`.
    """
    scores = {}
    for name, columns in find_parts(layer).items():
        with leaving_alone(layer, columns):
            part = Source(name=f"{name} alone", docs=inputs.predictions.docs)
            scores[name] = score_chunks(inputs.predict(part))
    return scores


def _count(tags: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(tags, minlength=len(CHUNKS))
