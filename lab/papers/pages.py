"""Pages of figures beside what a paper prints, written as HTML or Markdown."""

import os
from base64 import b64encode
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from spacy_hashembeds import markdown
from spacy_hashembeds.files import choose_suffix, replacing

from ..trials.results import Estimate
from .missing import SEEDS
from .tables import Cell, Table

#: How pages are written, by their suffix.
SUFFIXES = (".html", ".md")

# How a kind of figures is written: times what, our mean, a deviation, the printed mean.
# Scores are percents, and ours have one place more than the report's. "exact" ones are
# of a paper that prints that place too, and "fine" ones of one that prints two.
_FORMATS = {
    "score": (100, "{:.1f}", "{:.1f}", "{:.0f}"),
    "exact": (100, "{:.1f}", "{:.1f}", "{:.1f}"),
    "change": (100, "{:+.1f}", "{:.1f}", "{:+.0f}"),
    "fine": (100, "{:.2f}", "{:.2f}", "{:.2f}"),
    "exact_change": (100, "{:+.1f}", "{:.1f}", "{:+.1f}"),
    "fine_change": (100, "{:+.2f}", "{:.2f}", "{:+.2f}"),
    "percent": (1, "{:+.0%}", "{:.0%}", "{:+.0%}"),
    "count": (1, "{:,.0f}", "", "{:,.0f}"),
    "decimal": (1, "{:.2f}", "", "{:g}"),
    "tenths": (1, "{:.1f}", "", "{:.1f}"),
    "thousands": (1, "{:,.3f}", "", "{:,.1f}"),
}


def write_page(
    output: str | Path,
    template: str,
    content: Mapping[str, Any],
    *,
    pictures: Mapping[str, bytes],
    folder: str | Path | None = None,
) -> None:
    """Write a page.

    output (str | Path): The file: self-contained HTML (`.html`), or Markdown (`.md`).
        To an open file, such as `/dev/stdout`, HTML is written.
    template (str): The template's name, without `.html.jinja` or `.md.jinja`.
    content (Mapping[str, Any]): What it shows.
    pictures (Mapping[str, bytes]): PNG files by their names, without `.png`.
    folder (str | Path, optional): A folder for the pictures. None: none for HTML, which
        has them inside; for Markdown, `<output without .md>_figures`.
    RAISES (ValueError): If `output` ends in something else.
    """
    suffix = choose_suffix(output, SUFFIXES)
    output = Path(output)
    if folder is None and suffix == ".md":
        folder = output.with_name(f"{output.stem}_figures")
    paths = {}
    if folder is not None:
        paths = {name: Path(folder) / f"{name}.png" for name in pictures}
    links = {
        name: Path(os.path.relpath(path, output.parent)).as_posix()
        for name, path in paths.items()
    }
    if suffix == ".html":
        links = {
            name: f"data:image/png;base64,{b64encode(png).decode('ascii')}"
            for name, png in pictures.items()
        }
    text = _make_environment().get_template(f"{template}{suffix}.jinja")
    page = text.render(content, links=links, n_seeds=SEEDS)
    # halves of surrogate pairs, which names of files and JSON may hold, as escapes
    encoded = page.encode("utf8", errors="backslashreplace")
    # all is ready before anything is replaced: a page shows its own pictures
    with ExitStack() as stack:
        for name, path in paths.items():
            stack.enter_context(replacing(path)).write_bytes(pictures[name])
        stack.enter_context(replacing(output)).write_bytes(encoded)


def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=lambda name: name is not None and ".html" in name,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        ours=_format_ours,
        printed=_format_printed,
        mark=_get_mark,
        groups=_get_groups,
        md=markdown.escape,
        code=markdown.code,
        link=markdown.link,
    )
    return environment


def _format_ours(value: Estimate | None, kind: str) -> str:
    if value is None:
        return "\N{EN DASH}"
    factor, mean, deviation, _ = _FORMATS[kind]
    return _format(value, factor, mean, deviation)


def _format_printed(value: Estimate | None, kind: str) -> str:
    if value is None:
        return ""
    factor, *_, mean = _FORMATS[kind]
    return _format(value, factor, mean, mean)


def _format(value: Estimate, factor: int, mean: str, deviation: str) -> str:
    text = mean.format(factor * value.mean).replace("-", "\N{MINUS SIGN}")
    if value.deviation is None:
        return text
    return f"{text} ± {deviation.format(factor * value.deviation)}"


def _get_mark(cell: Cell) -> str:
    """Say which way a cell differs: upwards if ours is more."""
    if not cell.differs or cell.ours is None:
        return ""
    other = 0.0 if cell.printed is None else cell.printed.mean
    return "▲" if cell.ours.mean > other else "▼"


def _get_groups(table: Table) -> list[tuple[str, int]]:
    """Give the upper headings and how many columns each spans; [] if there are none."""
    groups = [
        (name, len(list(columns)))
        for name, columns in groupby(table.columns, key=lambda column: column.group)
    ]
    return groups if any(name for name, _ in groups) else []
