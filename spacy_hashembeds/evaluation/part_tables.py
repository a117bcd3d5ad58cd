"""The tables of types and lengths of entities, and of the tags of their tokens."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .scorer import KINDS
from .table import Table, format_difference, format_percent, format_range


def show_types(evaluation: Mapping[str, Any]) -> Table:
    """Show the scores of each type, for each kind of entities."""
    labels = sorted(evaluation["ents_per_type"] or {})
    rows = [row for label in labels for row in _show_part(evaluation, "type", label)]
    header = ("Type", "", *"PRF", "Support", "F from-to")
    return Table("Entities by type", None, header, rows, "ll")


def show_lengths(evaluation: Mapping[str, Any]) -> Table:
    """Show the scores of each length, for each kind of entities."""
    lengths = list(evaluation["ents_per_length"] or {})
    rows = [row for n in lengths for row in _show_part(evaluation, "length", n)]
    header = ("Tokens", "", *"PRF", "Support", "F from-to")
    legend = "a prediction is as long as it is, right or wrong"
    return Table("Entities by length", legend, header, rows, "ll")


def _show_part(
    evaluation: Mapping[str, Any], division: str, name: str
) -> Iterator[Sequence[str]]:
    """Show the scores of a type or a length, for each kind of entities."""
    for kind, prefix in KINDS.items():
        score = (evaluation[f"{prefix}_per_{division}"] or {}).get(name, {})
        scores = [format_percent(score.get(key)) for key in "prf"]
        support = str(score.get("support", 0))
        interval = format_range(score.get("f_interval"))
        yield (name, kind.title(), *scores, support, interval)


def show_differences(
    evaluation: Mapping[str, Any], key: str, division: str
) -> Iterator[Table]:
    """Show how the F1 of types or of lengths differs from the other's."""
    comparison = evaluation["comparison"]
    if comparison is None:
        return
    rows = [
        (
            name,
            format_percent(evaluation[f"ents_{key}"][name]["f"]),
            *format_difference(row["f"]),
        )
        for name, row in comparison[key].items()
        if row is not None
    ]
    header = (division.title(), "This F", "Other F", "Difference", "From-to", "p")
    yield Table(
        f"By {division}, against {comparison['model']}", None, header, rows, "l"
    )


def show_chunks(evaluation: Mapping[str, Any]) -> Table:
    """Show the recall of each chunk tag, and the other's."""
    chunks = evaluation["chunks"]
    is_compared = evaluation["comparison"] is not None
    rows = [
        (
            tag,
            format_percent(chunk["recall"]),
            *([format_percent(chunk["other"])] if is_compared else []),
            str(chunk["support"]),
        )
        for tag, chunk in chunks.items()
    ]
    header = ("Tag", "R", *(["Other R"] if is_compared else []), "Support")
    legend = "outside, single token, begin, inside and end of an entity of any type"
    return Table("Tokens by chunk tag", legend, header, rows, "l")


def show_parts(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    """Show what is left of the recall of chunk tags with each part alone."""
    parts = evaluation["setting"]["parts"]
    if not parts:
        return
    rows = [
        (
            tag,
            format_percent(chunk["recall"]),
            *(_subtract(chunk["parts"][part], chunk["recall"]) for part in parts),
        )
        for tag, chunk in evaluation["chunks"].items()
    ]
    legend = "difference in recall, with zeros in place of all other parts"
    title = "Parts of the encoder alone"
    yield Table(title, legend, ("Tag", "R", *parts), rows, "l")


def _subtract(part: float | None, whole: float | None) -> str:
    if part is None or whole is None:
        return "-"
    return f"{(part - whole) * 100:+.2f}"
