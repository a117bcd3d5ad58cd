"""Tables of pages, as Markdown."""

from collections.abc import Sequence


def to_markdown(table: Sequence[Sequence[str]]) -> str:
    """Write a table, header first, in Markdown."""
    header, *body = table
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
