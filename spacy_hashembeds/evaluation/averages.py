"""Averages over types, as seqeval's `classification_report` has them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

#: "micro" counts entities of all types together; "macro" is the mean of the types'
#: scores, and "weighted" that with each type as often as it has gold entities.
AVERAGES = ("micro", "macro", "weighted")


def average_types(strict: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Average the scores of types.

    Types are all that are gold or predicted, as in seqeval. One that is never predicted
    has precision 0, and one that is never gold recall 0: seqeval's `zero_division=0`,
    and spaCy's rule.

    strict (Mapping[str, Any], optional): What `SchemeCounter` makes of the scheme
        "strict", or None where there is nothing to average.
    RETURNS (dict[str, Any], optional): For each of `AVERAGES` `p`, `r` and `f`, 0 to 1.
    """
    if strict is None:
        return None
    types = strict["per_type"].values()
    scores = np.array([[score[key] for key in "prf"] for score in types])
    supports = np.array([_count_gold(score) for score in types])
    weights = supports / max(supports.sum(), 1)
    return {
        "micro": {key: strict[key] for key in "prf"},
        "macro": _name(scores.mean(axis=0)),
        "weighted": _name(weights @ scores),
    }


def _count_gold(score: Mapping[str, int]) -> int:
    return score["correct"] + score["incorrect"] + score["missed"]


def _name(scores: np.ndarray) -> dict[str, float]:
    return dict(zip("prf", scores.tolist(), strict=True))
