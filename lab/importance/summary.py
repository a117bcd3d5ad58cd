"""Importance as `python -m lab importance` prints it."""

from collections.abc import Iterator, Sequence
from textwrap import shorten
from typing import Any

from spacy_hashembeds.tools.display import Part, Sentence, Table, format_fields

_LEGEND = (
    "Importance is the root mean square of a row of weights, at the left. Vector: how "
    "long the vector of the first value is."
)


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Show what has the largest and the smallest importance."""
    yield Sentence(_LEGEND)
    has_counts = data["texts"] is not None
    for table in data["tables"]:
        yield Sentence(_name_table(table), "divider")
        yield Sentence(_describe_table(table))
        for key in ("largest", "smallest"):
            yield Table(
                None,
                None,
                (key.title(), "Weights", "Vector", *["Count"] * has_counts, "Values"),
                [_format_row(row) for row in table[key]],
                aligns="rrrrl" if has_counts else "rrrl",
            )


def _name_table(table: dict[str, Any]) -> str:
    size = table["ngram_size"]
    words = f", 1 to {size} words," * (size > 1)
    number = f" ({table['number']})" * (table["number"] > 1)
    return f"{table['attr']}{words} in '{table['component']}'{number}"


def _name_row(row: dict[str, Any]) -> str:
    """Name what has a row of weights: the most frequent first, as many as fit."""
    names = (
        f"#{value['key']}" if value["name"] is None else value["name"]
        for value in row["values"]
    )
    # in quotation marks what would not be understood without
    clear = (n if n.strip() and n.isprintable() else repr(n) for n in names)
    return shorten(", ".join(clear), 40, placeholder=" …")


def _describe_table(table: dict[str, Any]) -> str:
    values, reached, rows, sharing = format_fields(
        table, "values", "rows_reached", "rows", "values_sharing_row"
    )
    if table["chosen_by"] == "dictionary":
        text = f"{values} symbols, each with weights of its own."
    else:
        text = (
            f"{values} values have {reached} of {rows} rows of weights, chosen by "
            f"hashing; {sharing} of them share theirs with others."
        )
    median, unknown = table["median_importance"], table["unknown"]
    if median is not None:
        text += f" Median importance: {median:#.4g}."
    if unknown is not None:
        text += f" All other values share one row: {unknown['importance']:#.4g}."
    return text


def _format_row(row: dict[str, Any]) -> Sequence[str]:
    # in six characters, however small it is
    weights = (f"{w:+.3f}" if abs(w) >= 0.001 else f"{w:+.0e}" for w in row["weights"])
    numbers = row["importance"], row["values"][0]["vector_norm"]
    importance, vector = (f"{number:#.4g}" for number in numbers)
    counts = [] if row["count"] is None else format_fields(row, "count")
    return importance, " ".join(weights), vector, *counts, _name_row(row)
