"""Pages of papers: tables with our figures, as Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy_hashembeds.arguments import check_choice
from spacy_hashembeds.tools.display import escape_markdown

from ..trials.results import Estimate, Groups, read_results, select_task
from . import hash_embeddings, hashformers, multi_hash_embeddings, why_attention
from .corpora import count_corpora
from .filling import Measured
from .tables import (
    FORMATS,
    Column,
    Paper,
    Row,
    Sections,
    Table,
    describe_differences,
    read_paper,
)

#: The modules that fill the tables of papers, and may select trials.
PAPERS: Mapping[str, Any] = {
    "multi-hash-embeddings": multi_hash_embeddings,
    "hash-embeddings": hash_embeddings,
    "why-attention": why_attention,
    "hashformers": hashformers,
}

_MEANS = "mean ± standard deviation over seeds"


class Page(NamedTuple):
    """A page as Markdown, the number of its results, and a summary of differences."""

    text: str
    n_results: int
    differences: str


def make_page(
    results: Path,
    paper: str,
    *,
    corpus_root: Path = Path("corpus"),
    on_progress: Callable[[str], None] = lambda line: None,
) -> Page:
    """Fill a paper's tables with the available results.

    corpus_root: The folder of prepared corpora, whose counts are in some tables.
    """
    check_choice([*PAPERS], paper=paper)
    about, module = read_paper(paper), PAPERS[paper]
    everything = read_results(results)
    groups = select_task(everything, about.task)
    if not groups:
        raise FileNotFoundError(
            f"'{results}' has no results of {about.task}, the task of '{paper}'. "
            "Choose another paper with --paper."
        )
    if hasattr(module, "select_trials"):
        groups = module.select_trials(about, groups)
    n_results = _count(groups)
    if n_others := _count(everything) - n_results:
        on_progress(f"Ignored results that do not belong to the paper: {n_others:,}")
    measured = Measured(groups, count_corpora(about, corpus_root, on_progress))
    sections = {
        title: [table for table in map(_drop_empty, tables) if table.rows]
        for title, tables in module.fill(about, measured, results).items()
    }
    tables = [*chain(*sections.values())]
    differences = about.incomparable or describe_differences(
        [table for table in tables if table.number is not None], about.called
    )
    fields = {"n_results": n_results, "source": f"`{results}`"}
    text = "\n".join(_write(about, sections, {**fields, "differences": differences}))
    return Page(text, n_results, differences)


def _drop_empty(table: Table) -> Table:
    """Drop rows without our figures, except in tables of only printed figures."""
    ours = [row for row in table.rows if row.has_ours]
    if ours and not any(row.is_filled for row in ours):
        return replace(table, rows=[])
    return replace(table, rows=[r for r in table.rows if r.is_filled or not r.has_ours])


def _count(groups: Groups) -> int:
    return sum(map(len, groups.values()))


def _write(
    paper: Paper, sections: Sections, fields: Mapping[str, object]
) -> Iterator[str]:
    intro, *more = (text.format(**fields) for text in paper.intro)
    rows = chain(*(table.rows for table in chain(*sections.values())))
    compares = any(cell.printed for row in rows for cell in row.cells.values())
    means = f"Figures are {_MEANS}. Scores are percents."
    if compares:
        means = (
            f"Figures before the slash are ours: {_MEANS}, with the number of seeds in "
            f"parentheses. Figures after it are {paper.called}'s. Scores are percents."
        )
    texts = [intro, means, *(more if compares else [])]
    for text in (f"# {paper.title}, measured again", *texts):
        yield from (text, "")
    for title, tables in sections.items():
        if tables:
            yield from (f"## {title}", "")
        for table in tables:
            yield from _write_table(table)
            yield ""


def _write_table(table: Table) -> Iterator[str]:
    yield from (f"### {table.title}", "", table.caption, "")
    heads = [f"{c.group}: {c.label}" if c.group else c.label for c in table.columns]
    yield _join(map(escape_markdown, (*table.stub, *heads)))
    yield _join([*["---"] * len(table.stub), *["---:"] * len(heads)])
    for row in table.rows:
        cells = (_write_cell(row, column) for column in table.columns)
        yield _join((*map(escape_markdown, row.stub), *cells))
    yield ""
    yield from (f"- {note}" for note in table.notes)


def _join(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write_cell(row: Row, column: Column) -> str:
    """Write our figure, the number of seeds, a mark if it differs, and the paper's."""
    cell, form = row.cells[column.key], FORMATS[column.kind]
    ours, printed = cell.ours, cell.printed
    parts = []
    if row.has_ours:
        parts.append(_format(ours, form.ours, form.factor))
    if ours and ours.n:
        parts.append(f"({ours.n})")
    if ours and cell.differs:
        parts.append("▲" if ours.mean > (printed.mean if printed else 0) else "▼")
    if printed:
        parts.append(f"/ {_format(printed, form.printed, form.factor)}")
    return " ".join(parts)


def _format(value: Estimate | None, spec: str, factor: int) -> str:
    if value is None:
        return "\N{EN DASH}"
    text = format(factor * value.mean, spec).replace("-", "\N{MINUS SIGN}")
    if value.population_sd is None:
        return text
    return f"{text} ± {format(factor * value.population_sd, spec.lstrip('+'))}"
