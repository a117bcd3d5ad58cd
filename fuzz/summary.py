"""Many outcomes as one table, as JSON and as Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .cases import Outcome
from .verdict import FAILURES, Kind

BEGIN = "<!-- the table of `make fuzz` begins here -->"
END = "<!-- and ends here -->"

_PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "srsly", "numpy")

#: So many cases are shown of each cause.
_SHOWN = 3


def summarize(outcomes: Sequence[Outcome], *, seed: int) -> dict[str, Any]:
    """Count outcomes, and group failures by their cause.

    outcomes (Sequence[Outcome]): The outcomes, those of each target together.
    seed (int): The seed of all of them.
    RETURNS (dict[str, Any]): The summary, as JSON data.
    """
    counts: dict[str, dict[str, Counter[str]]] = {}
    for outcome in outcomes:
        parts = counts.setdefault(outcome.target, {})
        parts.setdefault(outcome.part, Counter())[outcome.verdict.kind] += 1
    return {
        "seed": seed,
        "versions": {package: version(package) for package in _PACKAGES},
        "counts": {
            target: {part: parts[part] for part in sorted(parts)}
            for target, parts in counts.items()
        },
        "failures": _group(outcomes),
    }


def has_failures(summary: Mapping[str, Any]) -> bool:
    """Tell whether anything became of a file that may not."""
    return bool(summary["failures"])


def write_table(summary: Mapping[str, Any], page: Path) -> None:
    """Write a summary as a table of Markdown, in place of the one that a page has.

    RAISES (ValueError): If the page has no place for it.
    """
    text = page.read_text(encoding="utf8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(
            f"'{page}' should have the lines '{BEGIN}' and '{END}', with the table "
            "between them, but has not. Put them where the table is to stand."
        )
    table = make_table(summary)
    page.write_text(f"{before}{BEGIN}\n\n{table}\n{END}{after}", encoding="utf8")


def make_table(summary: Mapping[str, Any]) -> str:
    """Make a table of Markdown: a row for each file, a column for what became of it."""
    kinds = list(Kind)
    lines = [
        "| file | cases | " + " | ".join(kinds) + " |",
        "|---|" + "--:|" * (len(kinds) + 1),
    ]
    total: Counter[str] = Counter()
    for target, parts in summary["counts"].items():
        for part, counts in parts.items():
            total.update(counts)
            lines.append(_make_row(f"{target}: `{_shorten(part)}`", counts))
    lines.append(_make_row("**all**", total))
    return "\n".join(lines) + "\n"


def _shorten(part: str) -> str:
    return "/".join(part.split("/")[-2:])


def _make_row(name: str, counts: Mapping[str, int]) -> str:
    cells = [sum(counts.values()), *(counts.get(kind, 0) for kind in Kind)]
    return f"| {name} | " + " | ".join(f"{n:,}" if n else "" for n in cells) + " |"


def _group(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Group failures, each target's most frequent first."""
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict.kind in FAILURES:
            key = outcome.target, verdict.kind, verdict.cause
            groups.setdefault(key, []).append(outcome)
    return [
        {
            "target": target,
            "kind": kind,
            "cause": cause,
            "cases": len(found),
            "shown": [_show(outcome) for outcome in found[:_SHOWN]],
        }
        for (target, kind, cause), found in sorted(
            groups.items(), key=lambda group: (group[0][0], -len(group[1]))
        )
    ]


def _show(outcome: Outcome) -> dict[str, Any]:
    return {
        "case": outcome.case,
        "file": outcome.part,
        "damage": outcome.damage,
        "message": outcome.verdict.message,
    }
