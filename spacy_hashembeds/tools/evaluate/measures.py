"""Measures of entities beside their scores: credit for those that are nearly right,
averages over types, and how sure a pipeline is of those that are right.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from spacy.training import Example

from ...training.scorer import Matches, align_predictions, score_counts
from ..extra import import_extra

SCHEMES = ("strict", "exact", "partial", "ent_type")

#: Outcomes of an entity: SemEval's COR, INC, PAR, MIS, SPU.
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")

#: "micro" counts entities of all types together; "macro" is the mean of the types'
#: scores, and "weighted" that with each type as often as it has gold entities.
AVERAGES = ("micro", "macro", "weighted")


def score_schemes(docs: Iterable[Mapping[str, Matches]], prefix: str) -> dict[str, Any]:
    """Score the entities of a prefix of `KINDS` by each scheme of SemEval 2013, task
    9.1, as nervaluate counts them, and in "per_type" each type by itself: predictions
    choose in turn among the gold entities that they share a token with, right ones
    first.
    """
    right: Counter[str] = Counter()
    groups: tuple[list[Any], list[Any]] = ([], [])
    for matches in (views[prefix] for views in docs if prefix in views):
        # these would choose themselves by any scheme
        right.update(label for label, *_ in matches.correct)
        # nervaluate compares each with each: apart are those that share no token
        errors = [(key, 0) for key in matches.missed]
        errors += [(key, 1) for key in matches.spurious]
        last = 0
        for (label, start, end), side in sorted(errors, key=lambda pair: pair[0][1:]):
            if start >= last:
                for of_side in groups:
                    of_side.append([])
            groups[side][-1].append({"label": label, "start": start, "end": end - 1})
            last = max(last, end)
    labels = {ent["label"] for group in chain(*groups) for ent in group} | right.keys()
    if not labels:
        return dict.fromkeys(SCHEMES)
    nervaluate = import_extra("nervaluate")
    found = nervaluate.Evaluator(*groups, tags=[*labels], loader="dict").evaluate()
    per_type = {label: found["entities"].get(label, {}) for label in sorted(labels)}
    return {
        scheme: {
            **_score(found["overall"].get(scheme), right.total()),
            "per_type": {
                label: _score(of.get(scheme), right[label])
                for label, of in per_type.items()
            },
        }
        for scheme in SCHEMES
    }


def _score(found: Any, n_right: int) -> dict[str, float | int]:
    """Score what nervaluate has counted, if anything, with SemEval's formulas."""
    outcomes = {name: getattr(found, name, 0) for name in OUTCOMES}
    outcomes["correct"] += n_right
    correct, incorrect, partial, missed, spurious = outcomes.values()
    right, wrong = correct + partial / 2, incorrect + partial / 2
    scores = score_counts((right, wrong + spurious, wrong + missed))
    return {**dict(zip("prf", scores.tolist(), strict=True)), **outcomes}


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


class ScoreCollector:
    """Collects the scores of entities, which components put into groups of `doc.spans`
    with `attrs["scores"]`. A group that has other spans than entities in some document,
    or scores that are not from 0 to 1, is of something else, and left out.
    """

    def __init__(self) -> None:
        self._scored: defaultdict[str, list[Any]] = defaultdict(list)
        self._others: set[str] = set()

    def add(self, example: Example, matches: Matches) -> None:
        """Collect the scores of one doc, whose right entities are in `matches`."""
        doc, ignored = example.predicted, dict.fromkeys(matches.ignored)
        # of two that are aligned with one gold entity, the first is right
        right = dict.fromkeys(matches.correct, True)
        judged = {
            (ent.label_, ent.start, ent.end): ignored.get(key, right.pop(key, False))
            for ent, key in zip(doc.ents, align_predictions(example), strict=True)
        }
        for name, group in doc.spans.items():
            if "scores" not in group.attrs:
                continue
            places = [(span.label_, span.start, span.end) for span in group]
            try:
                scores = np.asarray(group.attrs["scores"], dtype="float64")
            except (ValueError, TypeError):  # other things than numbers, or on a GPU
                scores = np.array(np.nan)
            is_share = scores.shape == (len(places),)
            is_share = is_share and bool(((scores >= 0) & (scores <= 1)).all())
            if not is_share or {*places} - judged.keys():
                self._others.add(name)
            else:
                found = zip(scores.tolist(), map(judged.get, places), strict=True)
                self._scored[name] += [pair for pair in found if None not in pair]

    def summarize(self) -> dict[str, Any] | None:
        """Measure the calibration of all scores, if there are any."""
        kept = sorted(self._scored.keys() - self._others)
        pairs = [pair for name in kept for pair in self._scored[name]]
        return measure_calibration(*zip(*pairs, strict=True)) if pairs else None


def measure_calibration(
    scores: Sequence[float], is_right: Sequence[bool]
) -> dict[str, Any]:
    """Return the expected calibration error, the mean over entities of how far
    precision and mean score of their bin are apart; and these ten bins, of equal width,
    each without its lower bound but for 0.

    Source: Guo et al., "On Calibration of Modern Neural Networks" (2017), §2.
    """
    pairs = np.column_stack([scores, is_right]).astype("float64")
    places = np.clip(np.ceil(pairs[:, 0] * 10) - 1, 0, 9)
    bins = [
        {"above": i / 10, "to": (i + 1) / 10, **_average(pairs[places == i])}
        for i in range(10)
    ]
    filled = [each for each in bins if each["entities"]]
    gaps = [b["entities"] * abs(b["precision"] - b["mean_score"]) for b in filled]
    return {"error": sum(gaps) / len(pairs), **_average(pairs), "bins": bins}


def _average(pairs: np.ndarray) -> dict[str, Any]:
    score, precision = pairs.mean(axis=0).tolist() if len(pairs) else (None, None)
    return {"entities": len(pairs), "mean_score": score, "precision": precision}
