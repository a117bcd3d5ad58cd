"""Reliability of entities' scores: how often those of a score are right."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.training import Example

from ...training.scorer import Matches, align_predictions


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
            if "scores" in group.attrs:
                places = [(span.label_, span.start, span.end) for span in group]
                scores = _read_scores(group.attrs["scores"])
                if scores.shape != (len(places),) or not judged.keys() >= {*places}:
                    self._others.add(name)
                else:
                    found = zip(scores.tolist(), map(judged.get, places), strict=True)
                    self._scored[name] += [pair for pair in found if None not in pair]

    def summarize(self) -> dict[str, Any] | None:
        """Measure the calibration of all scores, if there are any."""
        kept = sorted(self._scored.keys() - self._others)
        pairs = [pair for name in kept for pair in self._scored[name]]
        return measure_calibration(*zip(*pairs, strict=True)) if pairs else None


def _read_scores(scores: Any) -> np.ndarray:
    try:
        array = np.asarray(scores)
    except (ValueError, TypeError):  # of lists that differ in length, or on a GPU
        array = np.array(None)
    is_right = array.dtype.kind in "fiu" and ((array >= 0) & (array <= 1)).all()
    return array if is_right else np.array(None)


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
