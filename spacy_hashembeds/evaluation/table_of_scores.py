"""Scores as one table, to load into a spreadsheet or with pandas."""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from ..controls import show_controls
from .averages import AVERAGES
from .schemes import OUTCOMES
from .scorer import KINDS

# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t")

_SCORES = {"p": "precision", "r": "recall", "f": "f1"}

#: One row is about one of the kinds "all", "seen" and "unseen", under one scheme, and
#: either an average, or a type. Scores are 0 to 1. Bounds stand beside the scores of
#: the scheme "strict", but not beside macro and weighted averages, which have no
#: outcomes either. Cells are empty where there is nothing to say.
COLUMNS = (
    *("entities", "scheme", "average", "type"),
    *_SCORES.values(),
    *("support", *OUTCOMES),
    *(f"{name}_{bound}" for name in _SCORES.values() for bound in ("low", "high")),
)


def to_csv(evaluation: Mapping[str, Any]) -> str:
    """Write the scores of an evaluation as CSV, with `COLUMNS` in the first line.

    Names of types are for people and spreadsheets: control characters are escaped, and
    before what would be a formula there is an apostrophe.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    RETURNS (str): The table.
    """
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for kind, prefix in KINDS.items():
        for scheme, total in evaluation["schemes"][kind].items():
            for row in _make_rows(evaluation, kind, prefix, scheme, total):
                writer.writerow({"entities": kind, "scheme": scheme, **row})
    return text.getvalue()


def _make_rows(
    evaluation: Mapping[str, Any],
    kind: str,
    prefix: str,
    scheme: str,
    total: Mapping[str, Any] | None,
) -> Iterator[dict[str, Any]]:
    if total is None:
        return
    is_strict = scheme == "strict"
    intervals = {
        f"{key}_interval": evaluation[f"{prefix}_{key}_interval"] for key in _SCORES
    }
    micro, *averages = AVERAGES
    yield {"average": micro, **_format(total, intervals if is_strict else {})}
    for average in averages if is_strict else ():
        yield {"average": average, **_name(evaluation["averages"][kind][average])}
    for label, score in total["per_type"].items():
        per_type = evaluation[f"{prefix}_per_type"][label] if is_strict else {}
        yield {"type": neutralise(label), **_format(score, per_type)}


def neutralise(label: str) -> str:
    """Escape a name, and keep a spreadsheet from taking it for a formula."""
    return show_controls(f"'{label}" if label.startswith(_FORMULA) else label)


def _format(score: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    outcomes = {name: score[name] for name in OUTCOMES}
    bounds = {
        f"{name}_{bound}": value
        for key, name in _SCORES.items()
        for bound, value in zip(
            ("low", "high"), intervals.get(f"{key}_interval") or (), strict=False
        )
    }
    support = sum(outcomes.values()) - outcomes["spurious"]
    return {**_name(score), "support": support, **outcomes, **bounds}


def _name(score: Mapping[str, Any]) -> dict[str, Any]:
    return {name: score[key] for key, name in _SCORES.items()}
