"""A table of an evaluation, and how its figures are written."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: Columns of a terminal, and the spaces between those of a table.
WIDTH, GAP = 80, 3


class Table(NamedTuple):
    """A table in which all is text.

    title (str): What is in it.
    legend (str, optional): What there is to know about it.
    header (Sequence[str]): Its columns.
    rows (Sequence[Sequence[str]]): Its rows.
    aligns (str): "l" or "r" for each of the first columns; the others are to the right.
    """

    title: str
    legend: str | None
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    aligns: str


def format_percent(value: float | None) -> str:
    """Give a figure in percent; "-" where nothing was counted."""
    return "-" if value is None else f"{value * 100:.2f}"


def format_range(interval: Sequence[float] | None) -> str:
    """Give bounds in percent, which are not known to more than a place or so."""
    return "-" if interval is None else "..".join(f"{x * 100:.1f}" for x in interval)


def format_difference(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Give what a score of another pipeline is, the difference to it, and its p.

    row (Mapping[str, Any]): "other", and what a `Difference` holds.
    """
    return (
        format_percent(row["other"]),
        f"{row['difference'] * 100:+.2f}",
        format_range(row["interval"]),
        f"{row['p_value']:.4f}",
    )
