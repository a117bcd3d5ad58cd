"""Scores that give credit to entities that are nearly right, and averages over types.

The four schemes are those of SemEval 2013, task 9.1, as nervaluate counts them:
predictions choose one after the other among the gold entities that they share a token
with. Where predictions overlap, as they may after alignment, the right ones choose
first.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...training.scorer import Matches, SpanKey, score_counts
from ..extra import import_extra

SCHEMES = ("strict", "exact", "partial", "ent_type")

#: What may become of an entity: SemEval's COR, INC, PAR, MIS, SPU.
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")

#: "micro" counts entities of all types together; "macro" is the mean of the types'
#: scores, and "weighted" that with each type as often as it has gold entities.
AVERAGES = ("micro", "macro", "weighted")


class SchemeCounter:
    """Collects entities, in groups of those that overlap, by a prefix of `KINDS`."""

    def __init__(self) -> None:
        self._right: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._others: defaultdict[str, list[Any]] = defaultdict(list)

    def add(self, views: Mapping[str, Matches]) -> None:
        """Collect the entities of one doc: see `match_entities`."""
        for prefix, matches in views.items():
            for golds, predicted in _split(matches):
                if golds == predicted:
                    self._right[prefix].update(label for label, *_ in golds)
                else:
                    self._others[prefix].append((golds, predicted))

    def summarize(self, prefix: str) -> dict[str, Any]:
        """Score each scheme, and in its "per_type" each type by itself."""
        right, others = self._right[prefix], self._others[prefix]
        labels = {label for group in others for side in group for label, *_ in side}
        sides = (
            [
                [{"label": k[0], "start": k[1], "end": k[2] - 1} for k in group[i]]
                for group in others
            ]
            for i in (0, 1)
        )
        evaluator = import_extra("nervaluate").Evaluator(
            *sides, tags=sorted(labels), loader="dict"
        )
        found = evaluator.evaluate()
        types = {each: found["entities"].get(each, {}) for each in {*labels, *right}}
        if not types:
            return dict.fromkeys(SCHEMES)
        return {
            scheme: {
                **_score(found["overall"].get(scheme), right.total()),
                "per_type": {
                    label: _score(types[label].get(scheme), right[label])
                    for label in sorted(types)
                },
            }
            for scheme in SCHEMES
        }


def average_types(strict: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Average the strict scores of types, as seqeval's `classification_report` does
    with `zero_division=0`: of all that are gold or predicted.
    """
    if strict is None:
        return None
    types, gold = strict["per_type"].values(), ("correct", "incorrect", "missed")
    scores = np.array([[score[key] for key in "prf"] for score in types])
    supports = np.array([sum(score[key] for key in gold) for score in types])
    weighted = supports / max(supports.sum(), 1) @ scores
    averages = ([strict[key] for key in "prf"], scores.mean(axis=0), weighted)
    return {
        name: dict(zip("prf", map(float, values), strict=True))
        for name, values in zip(AVERAGES, averages, strict=True)
    }


def _split(matches: Matches) -> list[tuple[list[SpanKey], list[SpanKey]]]:
    """Split gold and predicted entities into groups that share no token, in which
    predictions that are right go first.
    """
    right, last = {*matches.correct}, -1
    golds = [(key, 0) for key in (*matches.correct, *matches.missed)]
    predicted = [(key, 1) for key in (*matches.correct, *matches.spurious)]
    groups: list[tuple[list[SpanKey], list[SpanKey]]] = []
    for key, side in sorted(golds + predicted, key=lambda pair: pair[0][1:]):
        if key[1] >= last:
            groups.append(([], []))
        groups[-1][side].append(key)
        last = max(last, key[2])
    for _, found in groups:
        found.sort(key=lambda key: key not in right)
    return groups


def _score(found: Any, n_right: int) -> dict[str, float | int]:
    """Score what nervaluate has counted, if anything, with SemEval's formulas."""
    outcomes = {name: getattr(found, name, 0) for name in OUTCOMES}
    outcomes["correct"] += n_right
    correct, incorrect, partial, missed, spurious = outcomes.values()
    right, wrong = correct + partial / 2, incorrect + partial / 2
    scores = score_counts((right, wrong + spurious, wrong + missed))
    return {**dict(zip("prf", scores.tolist(), strict=True)), **outcomes}
