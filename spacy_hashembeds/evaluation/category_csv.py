"""Scores of categories as one table, to load into a spreadsheet or with pandas."""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from .categories import AVERAGES
from .table_of_scores import neutralise

_SCORES = {"p": "precision", "r": "recall", "f": "f1"}

#: One row is about the accuracy, an average, or a label. Scores are 0 to 1. Cells are
#: empty where there is nothing to say.
COLUMNS = (
    *("average", "label", "accuracy", *_SCORES.values(), "support"),
    *(
        f"{name}_{bound}"
        for name in ("accuracy", *_SCORES.values())
        for bound in ("low", "high")
    ),
)


def to_csv(evaluation: Mapping[str, Any]) -> str:
    """Write the scores of categories as CSV, with `COLUMNS` in the first line.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    RETURNS (str): The table.
    """
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_make_rows(evaluation))
    return text.getvalue()


def _make_rows(evaluation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if not evaluation["cats_support"]:
        return
    yield {
        "average": "accuracy",
        "accuracy": evaluation["cats_acc"],
        "support": evaluation["cats_support"],
        **_bound("accuracy", evaluation["cats_acc_interval"]),
    }
    for average in AVERAGES:
        yield {"average": average, **_name(evaluation, f"cats_{average}_")}
    for label, score in evaluation["cats_per_type"].items():
        named = {"label": neutralise(label), "support": score["support"]}
        yield {**named, **_name(score, "")}


def _name(scores: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, name in _SCORES.items():
        interval = scores[f"{prefix}{key}_interval"]
        row |= {name: scores[f"{prefix}{key}"], **_bound(name, interval)}
    return row


def _bound(name: str, interval: tuple[float, float] | None) -> dict[str, float]:
    bounds = zip(("low", "high"), interval or (), strict=False)
    return {f"{name}_{bound}": value for bound, value in bounds}
