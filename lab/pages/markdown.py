"""Tables of pages, as Markdown, and the measurements behind them, as JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def to_markdown(table: Sequence[Sequence[str]]) -> str:
    """Write a table, header first, in Markdown."""
    header, *body = table
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read_measured(path: Path) -> list[dict[str, Any]]:
    """Read what `save` wrote."""
    return json.loads(path.read_text(encoding="utf8"))


def save(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Save measurements, each on a line."""
    lines = ",\n".join(map(json.dumps, rows))
    path.write_text(f"[\n{lines}\n]\n", encoding="utf8")
