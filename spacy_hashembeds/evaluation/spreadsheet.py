"""Scores as one table, to load into a spreadsheet or with pandas."""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from ..display import show_controls
from . import categories, schemes
from .schemes import OUTCOMES
from .scorer import KINDS

# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t")

_SCORES = {"p": "precision", "r": "recall", "f": "f1"}
_BOUNDS = tuple(f"{name}_{end}" for name in _SCORES.values() for end in ("low", "high"))

#: What the rows of entities, and of categories, have: see docs/evaluate.md.
OF_ENTITIES = (
    *("entities", "scheme", "average", "type", *_SCORES.values()),
    *("support", *OUTCOMES, *_BOUNDS, "mean_score", "calibration_error"),
)

OF_CATEGORIES = (
    *("average", "label", "accuracy", *_SCORES.values(), "support"),
    *("accuracy_low", "accuracy_high", *_BOUNDS),
)


def to_csv(evaluation: Mapping[str, Any]) -> str:
    """Write the scores of an evaluation as CSV, with names in the first line."""
    if "schemes" in evaluation:
        columns, rows = OF_ENTITIES, _list_entities(evaluation)
    else:
        columns, rows = OF_CATEGORIES, _list_categories(evaluation)
    text = StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _list_entities(evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    micro, *averages = schemes.AVERAGES
    for kind, prefix in KINDS.items():
        for scheme, total in evaluation["schemes"][kind].items():
            if total is None:
                continue
            row = {"entities": kind, "scheme": scheme}
            is_strict = scheme == "strict"
            bounds = _name(evaluation, f"{prefix}_") if is_strict else {}
            if is_strict and kind == "all" and (found := evaluation["calibration"]):
                bounds["mean_score"] = found["mean_score"]
                bounds["calibration_error"] = found["error"]
            yield {**row, "average": micro, **bounds, **_name(total)}
            for average in averages if is_strict else ():
                scores = evaluation["averages"][kind][average]
                yield {**row, "average": average, **_name(scores)}
            for label, score in total["per_type"].items():
                if is_strict:
                    bounds = _name(evaluation[f"{prefix}_per_type"][label])
                yield {**row, "type": _neutralise(label), **bounds, **_name(score)}


def _list_categories(evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    support = evaluation[categories.SUPPORT]
    if not support:
        return
    low, high = evaluation["cats_acc_interval"] or (None, None)
    yield {
        "average": "accuracy",
        "accuracy": evaluation["cats_acc"],
        "support": support,
        "accuracy_low": low,
        "accuracy_high": high,
    }
    for average in categories.AVERAGES:
        yield {"average": average, **_name(evaluation, f"cats_{average}_")}
    for label, score in evaluation["cats_per_type"].items():
        row = {"label": _neutralise(label), "support": score["support"]}
        yield {**row, **_name(score)}


def _name(scores: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name scores, their bounds and outcomes, those that there are, as columns."""
    row = {name: scores[f"{prefix}{key}"] for key, name in _SCORES.items()}
    for key, name in _SCORES.items():
        interval = scores.get(f"{prefix}{key}_interval") or ()
        row |= zip((f"{name}_low", f"{name}_high"), interval, strict=False)
    if "correct" in scores:
        row |= {name: scores[name] for name in OUTCOMES}
        row["support"] = sum(row[name] for name in OUTCOMES if name != "spurious")
    return row


def _neutralise(label: str) -> str:
    """Escape a name, and keep a spreadsheet from taking it for a formula."""
    return show_controls(f"'{label}" if label.startswith(_FORMULA) else label)
