"""Tables as commands print them."""

from collections.abc import Mapping, Sequence

from wasabi import msg

#: The headings of what `format_ratios` gives, and what they mean.
RATIOS = ("PRR", "PCR all", "PCR emb", "Tables", "PoEP")
RATIOS_LEGEND = (
    "PCR: parameters saved, of all, the embedder's, and its tables' alone; PoEP: all "
    "that are the embedder's."
)


def print_table(
    title: str,
    legend: str | None,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    aligns: str = "l",
) -> None:
    """Print a `display.Table`."""
    from ..display import Table, show

    show([Table(title, legend, header, rows, aligns)], msg)


def format_score(score: float | None) -> str:
    """Format a fraction in percent, without the sign; what is not there is '-'."""
    return "-" if score is None else f"{100 * score:.1f}"


def format_count(count: int | None) -> str:
    """Format a number of parameters; what is not there is '-'."""
    return "-" if count is None else f"{count:,}"


def format_ratios(row: Mapping[str, float | None]) -> tuple[str, ...]:
    """Format the ratios of a row, under the headings `RATIOS`."""
    keys = ("prr", "pcr_all", "pcr_emb", "pcr_tables", "poep")
    return tuple(format_score(row[key]) for key in keys)
