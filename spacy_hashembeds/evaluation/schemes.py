"""Scores that give credit to entities that are nearly right, and averages over types.

The four schemes are those of SemEval 2013, task 9.1 (Segura-Bedmar et al. 2013), as
nervaluate has them. SemEval does not say which entities belong together where several
share tokens. Here, as in nervaluate 1.2, predictions choose one after the other, in the
order of the text, among the gold entities that they share a token with and nobody has
chosen yet. Each takes one that is right by the scheme if it can, of several of its type
the one whose bounds are nearest, else the first. What finds none is spurious, what is
left is missed.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .counts import score_counts
from .scorer import Matches, SpanKey

#: What may become of an entity: SemEval's COR, INC, PAR, MIS, SPU.
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")

#: "micro" counts entities of all types together; "macro" is the mean of the types'
#: scores, and "weighted" that with each type as often as it has gold entities.
AVERAGES = ("micro", "macro", "weighted")

_IsRight = Callable[[SpanKey, SpanKey], bool]

#: When a prediction is right that shares a token with a gold entity. In "partial" one
#: with other bounds counts half.
SCHEMES: Mapping[str, _IsRight] = {
    "strict": lambda gold, predicted: gold == predicted,
    "exact": lambda gold, predicted: gold[1:] == predicted[1:],
    "partial": lambda gold, predicted: gold[1:] == predicted[1:],
    "ent_type": lambda gold, predicted: gold[0] == predicted[0],
}


def count_outcomes(
    golds: Sequence[SpanKey], predicted: Sequence[SpanKey], scheme: str
) -> Counter[str]:
    """Count the `OUTCOMES` of a doc's entities. Where predictions overlap, as they may
    after alignment, those that are right in all choose first.
    """
    is_right = SCHEMES[scheme]
    otherwise = "partial" if scheme == "partial" else "incorrect"
    all_golds = set(golds)
    free = sorted(golds, key=lambda gold: gold[1:])
    counts: Counter[str] = Counter()
    for key in sorted(predicted, key=lambda key: (key not in all_golds, *key[1:])):
        gold = _choose(free, key, is_right)
        if gold is None:
            counts["spurious"] += 1
        else:
            counts["correct" if is_right(gold, key) else otherwise] += 1
            del free[bisect_left(free, gold[1:], key=lambda gold: gold[1:])]
    counts["missed"] = len(free)
    return counts


def score_outcomes(counts: Mapping[str, int]) -> dict[str, float | int] | None:
    """Score `OUTCOMES` with SemEval's formulas; None where all counts are 0."""
    outcomes = {name: counts[name] for name in OUTCOMES}
    if not any(outcomes.values()):
        return None
    half = 0.5 * counts["partial"]
    wrong = counts["incorrect"] + half
    scores = score_counts(
        (counts["correct"] + half, wrong + counts["spurious"], wrong + counts["missed"])
    )
    return {**dict(zip("prf", scores.tolist(), strict=True)), **outcomes}


class SchemeCounter:
    """Counts outcomes under all schemes, of all types, and of each alone: there others
    are left out, as in nervaluate, so that a wrong type is one spurious, one missed.
    """

    def __init__(self) -> None:
        # by prefix, scheme, and type, or "" for all
        self._totals: dict[tuple[str, str], dict[str, Counter[str]]] = defaultdict(dict)

    def add(self, views: Mapping[str, Matches]) -> None:
        """Count the entities of one doc: see `match_entities`."""
        for prefix, matches in views.items():
            of_gold = _group((*matches.correct, *matches.missed))
            of_predicted = _group((*matches.correct, *matches.spurious))
            for label in of_gold | of_predicted:
                golds, found = of_gold.get(label, []), of_predicted.get(label, [])
                for scheme in SCHEMES:
                    totals = self._totals[prefix, scheme].setdefault(label, Counter())
                    if golds == found:  # as in most docs
                        totals["correct"] += len(golds)
                    else:
                        totals.update(count_outcomes(golds, found, scheme))

    def summarize(self, prefix: str) -> dict[str, Any]:
        """Score what was counted of a view by scheme, and each type in "per_type"."""
        summary: dict[str, Any] = {}
        for scheme in SCHEMES:
            totals = sorted(self._totals[prefix, scheme].items())
            scores = {label: score_outcomes(counts) for label, counts in totals}
            total = scores.pop("", None)
            summary[scheme] = total and {**total, "per_type": scores}
        return summary


def average_types(strict: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Average the strict scores of types, as seqeval's `classification_report` does
    with `zero_division=0`: of all that are gold or predicted.
    """
    if strict is None:
        return None
    types = strict["per_type"].values()
    scores = np.array([[score[key] for key in "prf"] for score in types])
    gold = ("correct", "incorrect", "missed")
    supports = np.array([sum(score[key] for key in gold) for score in types])
    averages = (
        [strict[key] for key in "prf"],
        scores.mean(axis=0).tolist(),
        (supports / max(supports.sum(), 1) @ scores).tolist(),
    )
    return {
        name: dict(zip("prf", values, strict=True))
        for name, values in zip(AVERAGES, averages, strict=True)
    }


def _group(keys: Sequence[SpanKey]) -> dict[str, list[SpanKey]]:
    """Group entities by type, and all of them under "", if there are any."""
    groups: dict[str, list[SpanKey]] = {"": list(keys)} if keys else {}
    for key in keys:
        groups.setdefault(key[0], []).append(key)
    return groups


def _choose(
    free: Sequence[SpanKey], key: SpanKey, is_right: _IsRight
) -> SpanKey | None:
    """Choose among the gold entities, sorted, that share a token with a prediction."""
    first = bisect_right(free, key[1], key=lambda gold: gold[2])
    last = bisect_left(free, key[2], lo=first, key=lambda gold: gold[1])

    def rank(gold: SpanKey) -> tuple[bool, int]:
        if not is_right(gold, key):
            return True, 0
        return False, abs(gold[1] - key[1]) + abs(gold[2] - key[2])

    return min(free[first:last], key=rank, default=None)
