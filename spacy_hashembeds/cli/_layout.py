"""Tables as commands print them."""

from collections.abc import Sequence


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

    from ..display import Table, show

    show([Table(title, legend, header, rows, aligns)], msg)
