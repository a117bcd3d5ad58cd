"""Numbers as commands print them."""

from collections.abc import Mapping

#: The headings of what `format_ratios` gives, and what they mean.
RATIOS = ("PRR", "PCR all", "PCR emb", "Tables", "PoEP")
RATIOS_LEGEND = (
    "PCR: parameters saved, of all, the embedder's, and its tables' alone; PoEP: all "
    "that are the embedder's."
)


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
