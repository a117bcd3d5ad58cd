"""Entity measures: partial matches, averages over types, calibration of scores."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from spacy.training import Example

from ...training.scorer import Matches, SpanKey, align_predictions, score_counts
from ..extra import import_extra
from .bootstrap import Draws, find_error_interval

SCHEMES = ("strict", "exact", "partial", "ent_type")

#: Outcomes of an entity by SemEval: COR, INC, PAR, MIS, SPU.
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")

#: "micro" pools the counts of all types; "macro" is the mean of the scores per type;
#: "weighted" is their mean weighted by the number of gold entities.
AVERAGES = ("micro", "macro", "weighted")

#: Number of random draws for the expected error of calibrated scores.
_N_DRAWS = 100


def score_schemes(docs: Iterable[Mapping[str, Matches]], prefix: str) -> dict[str, Any]:
    """Score entities of a prefix of `KINDS` by the schemes of SemEval 2013 (task 9.1),
    counted by nervaluate, also "per_type". Correct predictions are matched first, then
    overlapping ones from left to right.
    """
    found = [views[prefix] for views in docs if prefix in views]
    golds = [_format_entities(of.correct, of.missed) for of in found]
    predicted = [_format_entities(of.correct, of.spurious) for of in found]
    labels = sorted({ent["label"] for doc in (*golds, *predicted) for ent in doc})
    if not labels:
        return dict.fromkeys(SCHEMES)
    evaluator = import_extra("nervaluate").Evaluator
    results = evaluator(golds, predicted, tags=labels, loader="dict").evaluate()
    by_type = results["entities"]
    return {
        scheme: {
            **_score(results["overall"][scheme]),
            "per_type": {label: _score(by_type[label][scheme]) for label in labels},
        }
        for scheme in SCHEMES
    }


def _format_entities(
    right: Iterable[SpanKey], wrong: Iterable[SpanKey]
) -> list[dict[str, Any]]:
    """Return entities in nervaluate's format, the right ones first."""
    keys = chain(right, sorted(wrong, key=itemgetter(1, 2)))
    return [{"label": x, "start": start, "end": end - 1} for x, start, end in keys]


def _score(found: Any) -> dict[str, float | int]:
    """Score the counts of nervaluate with SemEval's formulas."""
    outcomes = {name: getattr(found, name) for name in OUTCOMES}
    correct, incorrect, partial, missed, spurious = outcomes.values()
    right, wrong = correct + partial / 2, incorrect + partial / 2
    scores = score_counts((right, wrong + spurious, wrong + missed))
    return {**dict(zip("prf", scores.tolist(), strict=True)), **outcomes}


def average_types(strict: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Average strict scores over gold and predicted types, as `classification_report`
    of seqeval with `zero_division=0`.
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


def collect_scores(example: Example, matches: Matches) -> dict[str, Any]:
    """Collect entity scores from span groups with `attrs["scores"]`. For each group,
    return (score, is_correct) pairs, or None if it has spans that are not entities,
    scores outside 0 to 1, or more or fewer scores than spans.
    """
    doc, ignored = example.predicted, dict.fromkeys(matches.ignored)
    # of two entities aligned with one gold entity, the first is correct
    right = dict.fromkeys(matches.correct, True)
    is_correct = {
        (ent.label_, ent.start, ent.end): ignored.get(key, right.pop(key, False))
        for ent, key in zip(doc.ents, align_predictions(example), strict=True)
    }
    found: dict[str, Any] = {}
    for name, group in doc.spans.items():
        if "scores" not in group.attrs:
            continue
        places = [(span.label_, span.start, span.end) for span in group]
        scores = [float(score) for score in group.attrs["scores"]]
        found[name] = None
        are_right = len(scores) == len(places) and all(0 <= x <= 1 for x in scores)
        if are_right and is_correct.keys() >= {*places}:
            pairs = zip(scores, map(is_correct.get, places), strict=True)
            found[name] = [pair for pair in pairs if None not in pair]
    return found


def summarize_scores(
    docs: Sequence[Mapping[str, Any]], draws: Draws
) -> dict[str, Any] | None:
    """Return the calibration of scores by `collect_scores`, with the interval of the
    error, or None without scores. Groups that are None in any document are skipped.
    """
    names = {name for doc in docs for name in doc}
    kept = sorted(x for x in names if None not in [doc.get(x, ()) for doc in docs])
    pairs = [[pair for name in kept for pair in doc.get(name, ())] for doc in docs]
    if not any(pairs):
        return None
    sums = np.array([_sum_bins(*np.reshape(of, (-1, 2)).T) for of in pairs])
    found = measure_calibration(*zip(*chain(*pairs), strict=True))
    return {**found, "interval": find_error_interval(sums, _get_error, draws)}


def measure_calibration(
    scores: Sequence[float], is_right: Sequence[bool]
) -> dict[str, Any]:
    """Return the expected calibration "error"; its mean by "chance" for perfectly
    calibrated scores; and ten "bins" of equal width, which exclude their lower bound,
    except 0.

    Source: Guo et al., "On Calibration of Modern Neural Networks" (2017), §2.
    """
    given, rng = np.asarray(scores, dtype="float64"), np.random.default_rng(0)
    sums = _sum_bins(given, np.asarray(is_right))
    drawn = [_sum_bins(given, rng.random(len(given)) < given) for _ in range(_N_DRAWS)]
    return {
        "error": float(_get_error(sums)),
        "chance": float(_get_error(np.array(drawn)).mean()),
        **_average(sums.sum(axis=0)),
        "bins": [
            {"above": i / 10, "to": (i + 1) / 10, **_average(of)}
            for i, of in enumerate(sums)
        ],
    }


def _sum_bins(scores: np.ndarray, is_right: np.ndarray) -> np.ndarray:
    """Sum entities, scores and correct entities by bin. *Shape:* (10, 3)"""
    places = np.clip(np.ceil(scores * 10) - 1, 0, 9).astype(int)
    columns = (np.ones(len(scores)), scores, is_right)
    return np.stack([np.bincount(places, of, minlength=10) for of in columns], axis=-1)


def _get_error(sums: np.ndarray) -> np.ndarray:
    """*Shape:* (..., 10, 3) -> (...)"""
    n, score, right = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore"):  # draws without entities
        return np.abs(score - right).sum(axis=-1) / n.sum(axis=-1)


def _average(sums: np.ndarray) -> dict[str, Any]:
    n, *of = sums.tolist()
    score, precision = (x / n for x in of) if n else (None, None)
    return {"entities": int(n), "mean_score": score, "precision": precision}
