"""Tables and figures as commands print them."""

from typing import Any


def print_table(
    title: str,
    legend: str,
    header: tuple[str, ...],
    rows: list[tuple[str, ...]],
    n_names: int = 1,
) -> None:
    """Print a table with a title and what there is to know about it, if it has rows.

    n_names (int): How many columns at the left are names; the others are numbers.
    """
    from wasabi import msg

    if not rows:
        return
    aligns = ("l",) * n_names + ("r",) * (len(header) - n_names)
    msg.divider(title)
    msg.text(legend)
    msg.table(rows, header=header, aligns=aligns, divider=True, max_col=60)


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
