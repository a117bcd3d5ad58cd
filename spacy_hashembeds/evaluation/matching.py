"""Which predicted entities are right, by spaCy's rules."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Label, first token, token after the last, in the gold doc's tokens.
SpanKey = tuple[str, int, int]


@dataclass(frozen=True, kw_only=True)
class Matches:
    """The entities of one doc, divided as `spacy.scorer.get_ner_prf` counts them.

    correct (tuple[SpanKey, ...]): Predicted, with the type and bounds of a gold entity.
    spurious (tuple[SpanKey, ...]): Predicted otherwise: false positives.
    ignored (tuple[SpanKey, ...]): Predicted on tokens whose annotation is missing, or
        on none of the gold doc's tokens: neither right nor wrong.
    missed (tuple[SpanKey, ...]): Gold and not predicted: false negatives.
    """

    correct: tuple[SpanKey, ...] = ()
    spurious: tuple[SpanKey, ...] = ()
    ignored: tuple[SpanKey, ...] = ()
    missed: tuple[SpanKey, ...] = ()


def match_spans(
    predicted: Sequence[SpanKey], golds: Sequence[SpanKey], missing: np.ndarray
) -> Matches:
    """Divide the entities of one doc as `spacy.scorer.get_ner_prf` does.

    predicted (Sequence[SpanKey]): Predicted entities; one that is aligned with no
        token of the gold doc is empty, its first token being its end.
    golds (Sequence[SpanKey]): Gold entities.
    missing (ndarray): Whether each token's annotation is missing, shape (n_tokens,).
    RETURNS (Matches): Each entity once.
    """
    unmatched = dict.fromkeys(golds)
    correct: list[SpanKey] = []
    spurious: list[SpanKey] = []
    ignored: list[SpanKey] = []
    for key in predicted:
        _, start, end = key
        if start == end or missing[start:end].any():
            ignored.append(key)
        elif key in unmatched:
            correct.append(key)
            del unmatched[key]
        else:
            spurious.append(key)
    return Matches(
        correct=tuple(correct),
        spurious=tuple(spurious),
        ignored=tuple(ignored),
        missed=tuple(unmatched),
    )
