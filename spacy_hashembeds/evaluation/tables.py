"""The tables of an evaluation, as they are printed and as Markdown has them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import markdown
from ..controls import show_controls
from .groups import GROUPINGS
from .part_tables import (
    show_chunks,
    show_differences,
    show_lengths,
    show_parts,
    show_types,
)
from .schemes import OUTCOMES
from .scorer import KINDS
from .table import (
    GAP,
    WIDTH,
    Table,
    format_difference,
    format_percent,
    format_range,
)

#: Confusions that are shown; the JSON and the page have more.
_N_CONFUSIONS = 10

#: The fewest characters of a text that are shown.
_LEAST_QUOTED = 20


def make_tables(evaluation: Mapping[str, Any]) -> list[Table]:
    """Show an evaluation as tables, those that have rows.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    RETURNS (list[Table]): The tables.
    """
    tables = [
        _show_scores(evaluation),
        *_show_comparison(evaluation),
        *_show_misspelt(evaluation),
        show_types(evaluation),
        *show_differences(evaluation, "per_type", "type"),
        show_lengths(evaluation),
        *show_differences(evaluation, "per_length", "length"),
        _show_averages(evaluation),
        _show_schemes(evaluation),
        *_show_groups(evaluation),
        show_chunks(evaluation),
        *show_parts(evaluation),
        _show_confusions(evaluation),
    ]
    return [table for table in tables if table.rows]


def describe_draws(setting: Mapping[str, Any], annotation: str) -> str | None:
    """Say what the intervals are, if there are any.

    setting (Mapping[str, Any]): The "setting" of an evaluation.
    annotation (str): What documents are annotated with.
    """
    drawn, read = setting["documents"], setting["documents_read"]
    if not drawn:
        return None
    documents = f"{drawn:,} document{'s' * (drawn != 1)}"
    annotated = f" with {annotation} annotation, of {read:,} in all" * (drawn < read)
    return (
        f"Intervals hold {setting['confidence']:.0%} of {setting['samples']:,} "
        f"draws of the {documents}{annotated}, seed {setting['seed']}"
    )


def to_markdown(
    evaluation: Mapping[str, Any],
    *,
    title: str,
    tables: Sequence[Table],
    draws: str | None,
) -> str:
    """Show an evaluation in Markdown.

    evaluation (Mapping[str, Any]): What `evaluate` returns.
    title (str): What stands above it.
    tables (Sequence[Table]): Its tables.
    draws (str, optional): What the intervals are.
    RETURNS (str): Its tables, and what was evaluated.
    """
    setting = evaluation["setting"]
    named = {"Predictions": setting["model"], "Gold corpus": setting["test"]}
    if setting["train"] is not None:
        named["Training corpus"] = setting["train"]
    lines = [f"- {key}: {markdown.code(name)}" for key, name in named.items()]
    blocks = [f"# {title}", "\n".join(lines)]
    blocks += [f"**{markdown.escape(text)}**" for text in evaluation["warnings"]]
    for table in tables:
        legend = [] if table.legend is None else [markdown.escape(table.legend)]
        blocks += [f"## {markdown.escape(table.title)}", *legend, _format(table)]
    blocks += [] if draws is None else [f"{draws}."]
    return show_controls("\n\n".join(blocks) + "\n")


def _format(table: Table) -> str:
    aligns = table.aligns.ljust(len(table.header), "r")
    rules = [":--" if align == "l" else "--:" for align in aligns]
    rows = [map(markdown.escape, row) for row in (table.header, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"| {' | '.join(rules)} |", *lines[1:]])


def _show_scores(evaluation: Mapping[str, Any]) -> Table:
    rows = []
    for kind, prefix in KINDS.items():
        scores = [evaluation[f"{prefix}_{key}"] for key in "prf"]
        ranges = [format_range(evaluation[f"{prefix}_{key}_interval"]) for key in "prf"]
        support = str(evaluation[f"{prefix}_support"])
        rows.append((kind.title(), *map(format_percent, scores), support, *ranges))
    header = ("", *"PRF", "Support", "P from-to", "R from-to", "F from-to")
    return Table("Entities", None, header, rows, "l")


def _show_averages(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (kind.title(), name, *(format_percent(score[key]) for key in "prf"))
        for kind in _find_kinds(evaluation)
        for name, score in evaluation["averages"][kind].items()
    ]
    return Table("Averages over types", None, ("", "Average", *"PRF"), rows, "ll")


def _show_schemes(evaluation: Mapping[str, Any]) -> Table:
    rows = [
        (
            kind.title(),
            scheme,
            *(format_percent(score[key]) for key in "prf"),
            *(str(score[name]) for name in OUTCOMES),
        )
        for kind in _find_kinds(evaluation)
        for scheme, score in evaluation["schemes"][kind].items()
    ]
    names = {"COR": "correct", "INC": "incorrect", "PAR": "partly correct"}
    names |= {"MIS": "missed", "SPU": "spurious"}
    legend = ", ".join(f"{short} {name}" for short, name in names.items())
    header = ("", "Scheme", *"PRF", *names)
    return Table("Schemes of matching", legend, header, rows, "ll")


def _find_kinds(evaluation: Mapping[str, Any]) -> list[str]:
    """Give the kinds of which there are gold entities."""
    return [kind for kind, prefix in KINDS.items() if evaluation[f"{prefix}_support"]]


def _show_comparison(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    comparison = evaluation["comparison"]
    if comparison is None:
        return
    rows = _list_differences(evaluation, comparison)
    header = ("", "", "This", "Other", "Difference", "From-to", "p")
    yield Table(f"Against {comparison['model']}", None, header, rows, "ll")


def _show_misspelt(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    misspelt = evaluation["misspelt"]
    if misspelt is None:
        return
    rows = _list_differences(evaluation, misspelt)
    header = ("", "", "This", "Misspelt", "Difference", "From-to", "p")
    legend = "entities are seen or unseen by the words of the gold corpus"
    yield Table(f"Against itself on {misspelt['corpus']}", legend, header, rows, "ll")


def _list_differences(
    evaluation: Mapping[str, Any], comparison: Mapping[str, Any]
) -> list[Sequence[str]]:
    return [
        (
            kind.title(),
            key.upper(),
            format_percent(evaluation[f"{prefix}_{key}"]),
            *format_difference(comparison[kind][key]),
        )
        for kind, prefix in KINDS.items()
        if comparison[kind] is not None
        for key in "prf"
    ]


def _show_groups(evaluation: Mapping[str, Any]) -> Iterator[Table]:
    for name, groups in evaluation["groups"].items():
        grouping = GROUPINGS[name]
        rows = [
            (
                grouping.groups[group["group"]],
                format_percent(group["recall"]),
                str(group["support"]),
                format_range(group["interval"]),
            )
            for group in groups
        ]
        yield Table(grouping.title, None, ("", "R", "Support", "R from-to"), rows, "l")


def _show_confusions(evaluation: Mapping[str, Any]) -> Table:
    confusions = evaluation["confusions"]
    header = ("Gold", "Predicted", "Error", "Count", "For example")
    rows = [
        (
            show_controls(confusion["gold"] or "-"),
            show_controls(confusion["predicted"] or "-"),
            confusion["error"],
            str(confusion["count"]),
        )
        for confusion in confusions[:_N_CONFUSIONS]
    ]
    columns = zip(header, *rows, strict=False)
    taken = sum(max(map(len, column)) + GAP for column in columns)
    room = max(_LEAST_QUOTED, WIDTH - taken)
    quoted = [
        (*row, _quote(confusion["examples"][0], room))
        for row, confusion in zip(rows, confusions, strict=False)
    ]
    title = f"Confusions ({len(rows)} of {len(confusions)} kinds)"
    return Table(title, None, header, quoted, "lllrl")


def _quote(example: Mapping[str, Any], room: int) -> str:
    """Give an error's surroundings in one line, the error itself in brackets."""
    marks = [m for m in (*example["gold"], *example["predicted"]) if m["is_error"]]
    start, end = min(m["start"] for m in marks), max(m["end"] for m in marks)
    text = example["text"]
    before, error, after = (
        show_controls(part) for part in (text[:start], text[start:end], text[end:])
    )
    error = " ".join(error.split())
    if len(error) > room - 2:
        return f"[{error[: room - 3]}…]"
    margin = (room - 2 - len(error)) // 2
    before = before[max(0, len(before) - margin) :]
    return " ".join(f"{before}[{error}]{after[:margin]}".split())
