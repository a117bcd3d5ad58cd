"""Importance as `python -m lab importance` prints it."""

from collections.abc import Iterator, Sequence
from typing import Any

from spacy_hashembeds.display import Part, Sentence, Table, format_fields

_LEGEND = (
    "Importance is the root mean square of a row of weights, at the left. Vector: how "
    "long the vector of the first value is."
)

#: The most characters of a name, and of all names of a row.
_MAX_NAME, _MAX_NAMES = 24, 32


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Say what has the largest and the smallest importance."""
    yield Sentence(_LEGEND)
    has_counts = data["texts"] is not None
    for table in data["tables"]:
        yield Sentence(name_table(table), "divider")
        yield Sentence(_describe_table(table))
        for key, title in (("largest", "Largest"), ("smallest", "Smallest")):
            yield Table(
                None,
                None,
                (title, "Weights", "Vector", *["Count"] * has_counts, "Values"),
                [_format_row(row) for row in table[key]],
                aligns="rrrrl" if has_counts else "rrrl",
            )


def name_table(table: dict[str, Any]) -> str:
    """Give a table of weights a title."""
    size = table["ngram_size"]
    words = f", 1 to {size} words," * (size > 1)
    number = f" ({table['number']})" * (table["number"] > 1)
    return f"{table['attr']}{words} in '{table['component']}'{number}"


def name_row(row: dict[str, Any], max_length: int = _MAX_NAMES) -> str:
    """Name what has a row of weights: the most frequent, and how many more."""
    named = [_name(value) for value in row["values"]]
    shown = named[:1]
    for name in named[1:]:
        if len(", ".join([*shown, name])) > max_length:
            break
        shown.append(name)
    n_more = len(named) - len(shown)
    return ", ".join(shown) + f" +{n_more}" * (n_more > 0)


def _name(value: dict[str, Any]) -> str:
    """Name a value, in quotation marks where it would not be understood without."""
    name = f"#{value['key']}" if value["name"] is None else value["name"]
    if len(name) > _MAX_NAME:
        name = f"{name[: _MAX_NAME - 1]}…"
    is_clear = name == name.strip() and name and name.isprintable() and "," not in name
    return name if is_clear else repr(name)


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
    median = table["median_importance"]
    if median is not None:
        text += f" Median importance: {median:#.4g}."
    return text + _describe_unknown(table["unknown"])


def _describe_unknown(unknown: dict[str, Any] | None) -> str:
    if unknown is None:
        return ""
    (count,) = format_fields(unknown, "count")
    seen = f" ({count} times in the texts)" * (unknown["count"] is not None)
    return f" All other values{seen} share one row: {unknown['importance']:#.4g}."


def _format_row(row: dict[str, Any]) -> Sequence[str]:
    weights = " ".join(map(_format_weight, row["weights"]))
    numbers = row["importance"], row["values"][0]["vector_norm"]
    importance, vector = (f"{number:#.4g}" for number in numbers)
    counts = [] if row["count"] is None else format_fields(row, "count")
    return importance, weights, vector, *counts, name_row(row)


def _format_weight(weight: float) -> str:
    """Format a weight in six characters, however small it is."""
    return f"{weight:+.3f}" if abs(weight) >= 0.001 else f"{weight:+.0e}"
