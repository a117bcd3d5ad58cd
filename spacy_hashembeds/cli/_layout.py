"""Tables and figures as commands print them."""

from collections.abc import Sequence
from typing import Any


def print_table(
    title: str,
    legend: str | None,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    aligns: str = "l",
) -> None:
    """Print a table with a title and what there is to know about it, if it has rows.

    aligns (str): "l" or "r" for each of the first columns; the others are to the right.
    """
    from wasabi import msg

    if not rows:
        return
    msg.divider(title)
    if legend is not None:
        msg.text(legend)
    all_aligns = tuple(aligns.ljust(len(header), "r"))
    msg.table(rows, header=header, aligns=all_aligns, divider=True, max_col=100)


def format_fields(record: dict[str, Any], *keys: str) -> list[str]:
    """Format numbers: floats with two places, and what is not there as '-'."""
    return [_format_number(record[key]) for key in keys]


def _format_number(number: int | float | None) -> str:
    if number is None:
        return "-"
    return f"{number:,.2f}" if isinstance(number, float) else f"{number:,}"


def format_percent(share: float | None) -> str:
    """Format a share of 0 to 1, and what is not there as '-'."""
    return "-" if share is None else f"{100 * share:.1f}%"
