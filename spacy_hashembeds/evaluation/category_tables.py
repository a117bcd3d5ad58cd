"""The tables of an evaluation of categories."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..controls import show_controls
from .categories import AVERAGES, name_accuracy
from .table import (
    GAP,
    WIDTH,
    Table,
    format_difference,
    format_percent,
    format_range,
)

#: Labels of a matrix that fits a terminal, and kinds of errors that are shown; the JSON
#: and the page have more.
_N_LABELS, _N_CONFUSIONS = 10, 10

#: Characters of a document, and the fewest of a label above a column.
_QUOTED, _LEAST_LABEL = 34, 4


def make_tables(evaluation: Mapping[str, Any]) -> list[Table]:
    """Show an evaluation of categories as tables, those that have rows.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    RETURNS (list[Table]): The tables.
    """
    tables = [
        _show_scores(evaluation),
        *_show_comparison(evaluation),
        _show_labels(evaluation),
        *_show_matrix(evaluation),
        _show_confusions(evaluation),
    ]
    return [table for table in tables if table.rows]


def _show_scores(evaluation: Mapping[str, Any]) -> Table:
    accuracy = name_accuracy(evaluation).capitalize()
    value, interval = evaluation["cats_acc"], evaluation["cats_acc_interval"]
    # precision, recall and F1 of it are equal
    rows: list[tuple[str, ...]] = [
        (accuracy, "", "", format_percent(value), "", "", format_range(interval))
    ]
    for average in AVERAGES:
        names = [f"cats_{average}_{key}" for key in "prf"]
        scores = [format_percent(evaluation[name]) for name in names]
        ranges = [format_range(evaluation[f"{name}_interval"]) for name in names]
        rows.append((average.title(), *scores, *ranges))
    header = ("", *"PRF", "P from-to", "R from-to", "F from-to")
    legend = f"Documents: {evaluation['cats_support']:,}"
    threshold = evaluation["setting"]["threshold"]
    if threshold is not None:
        legend += f". Labels are predicted from a score of {threshold} on"
    return Table("Categories", legend, header, rows, "l")


def _show_comparison(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    comparison = evaluation["comparison"]
    if comparison is None:
        return
    rows = [
        (
            *name_score(evaluation, key),
            format_percent(evaluation[key]),
            *format_difference(row),
        )
        for key, row in comparison.items()
        if key != "model" and row is not None
    ]
    header = ("", "", "This", "Other", "Difference", "From-to", "p")
    yield Table(f"Against {comparison['model']}", None, header, rows, "ll")


def name_score(evaluation: Mapping[str, Any], key: str) -> tuple[str, str]:
    """Name a score for people: what it is, and which of precision, recall and F1.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    key (str): The score, such as "cats_macro_f".
    """
    if key == "cats_acc":
        return name_accuracy(evaluation).capitalize(), ""
    _, average, letter = key.split("_")
    return average.title(), letter.upper()


def _show_labels(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (
            label,
            *(format_percent(score[key]) for key in "prf"),
            str(score["support"]),
            format_range(score["f_interval"]),
        )
        for label, score in (evaluation["cats_per_type"] or {}).items()
    ]
    header = ("Label", *"PRF", "Support", "F from-to")
    return Table("Categories by label", None, header, rows, "l")


def _show_matrix(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    matrix = evaluation["matrix"]
    if matrix is None or len(matrix["labels"]) > _N_LABELS:
        return
    labels = [show_controls(label) for label in matrix["labels"]]
    room = (WIDTH - max(map(len, labels))) // (len(labels) + 1) - GAP
    header = ["Gold", *(_cut(label, max(_LEAST_LABEL, room)) for label in labels)]
    columns = [list(map(str, row)) for row in matrix["counts"]]
    if any(matrix["unpredicted"]):
        header.append("none")
        columns = [
            [*row, str(n)]
            for row, n in zip(columns, matrix["unpredicted"], strict=True)
        ]
    rows = [[label, *row] for label, row in zip(labels, columns, strict=True)]
    legend = "A row for each gold label, a column for each predicted one"
    yield Table("Confusion matrix", legend, header, rows, "l")


def _show_confusions(evaluation: Mapping[str, Any]) -> Table:
    confusions = evaluation["confusions"]
    shown = confusions[:_N_CONFUSIONS]
    rows = [
        (
            show_controls(confusion["gold"] or "-"),
            show_controls(confusion["predicted"] or "-"),
            str(confusion["count"]),
            _quote(confusion["examples"]),
        )
        for confusion in shown
    ]
    title = f"Confusions ({len(shown)} of {len(confusions)} kinds)"
    return Table(
        title, None, ("Gold", "Predicted", "Count", "For example"), rows, "llrl"
    )


def _quote(examples: Sequence[Mapping[str, Any]]) -> str:
    return _cut(" ".join(show_controls(examples[0]["text"]).split()), _QUOTED)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
