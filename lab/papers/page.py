"""The page of a paper: its tables with our figures, as Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from spacy_hashembeds.files import replacing
from spacy_hashembeds.tools.display import escape_markdown
from spacy_hashembeds.tools.evaluate.sources import NER, TEXTCAT

from ..trials.results import Estimate, Groups, read_results, select_task
from . import PAPERS, hash_embeddings, hashformers, multi_hash_embeddings, why_attention
from .corpora import count_corpora
from .filling import Measured
from .paper import REPORT, Paper, read_paper
from .tables import FORMATS, Column, Row, Sections, Table, describe_differences

_TASKS = {NER: "named entities", TEXTCAT: "text classifiers"}

#: What fills each paper's tables, and may choose its trials.
MODULES: Mapping[str, Any] = {
    "multi-hash-embeddings": multi_hash_embeddings,
    "hash-embeddings": hash_embeddings,
    "why-attention": why_attention,
    "hashformers": hashformers,
}

_MEANS = "mean ± standard deviation over seeds"


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that a page shows."""

    paper: Paper
    source: Path  # the folder of results
    n_results: int  # how many of them are shown
    sections: Sections

    @property
    def tables(self) -> list[Table]:
        """Its tables, in order."""
        blocks = chain(*self.sections.values())
        return [block for block in blocks if isinstance(block, Table)]

    @property
    def differences(self) -> str:
        """Numbers of figures that differ among those that both have, by their kind."""
        if self.paper.incomparable:
            return self.paper.incomparable
        tables = [table for table in self.tables if table.number is not None]
        return describe_differences(tables, self.paper.called)


def make_page(
    results: str | Path,
    paper: str = REPORT,
    *,
    corpus_root: str | Path | None = None,
    on_progress: Callable[[str], None] = lambda line: None,
) -> Page:
    """Fill a paper's tables from the results that are there.

    corpus_root: The folder of prepared corpora, to count. None: "corpus", if there.
    """
    about = read_paper(paper)
    root = Path("corpus" if corpus_root is None else corpus_root)
    if corpus_root is not None and not root.is_dir():
        raise FileNotFoundError(
            f"'corpus_root' should be a folder of prepared corpora, but there is no "
            f"'{root}'. `python -m lab prepare` makes them."
        )
    module = MODULES[paper]
    everything = read_results(results)
    groups = select_task(everything, about.task)
    if not groups:
        raise FileNotFoundError(
            f"There are no results of {_TASKS[about.task]} in '{results}', which the "
            f"paper '{paper}' is about. Choose another one, --paper "
            f"{' or '.join(name for name in PAPERS if name != paper)}."
        )
    if hasattr(module, "select_trials"):
        groups = module.select_trials(about, groups)
    if n_others := _count(everything) - _count(groups):
        on_progress(f"Leaving out results that the paper is not about: {n_others:,}")
    counted = count_corpora(about, root, on_progress)
    measured = Measured(groups=groups, counted=counted)
    sections = module.fill(about, measured, Path(results))
    kept = {title: _drop_empty(blocks) for title, blocks in sections.items()}
    return Page(
        paper=about,
        source=Path(results),
        n_results=_count(groups),
        sections={title: blocks for title, blocks in kept.items() if blocks},
    )


def write_page(page: Page, output: str | Path) -> None:
    """Write a page to a Markdown file."""
    with replacing(Path(output)) as temporary:
        # halves of surrogate pairs, which names of files may hold, as escapes
        text = "\n".join(_write_lines(page))
        temporary.write_text(text, encoding="utf8", errors="backslashreplace")


def _drop_empty(blocks: Sequence[Table | str]) -> list[Table | str]:
    """Leave out what has nothing of ours, but not tables that are the paper's alone."""
    kept: list[Table | str] = []
    for block in blocks:
        if isinstance(block, str):
            kept.append(block)
            continue
        rows = [row for row in block.rows if row.is_filled or not row.has_ours]
        ours = [row for row in block.rows if row.has_ours]
        if rows and (not ours or any(row.is_filled for row in ours)):
            kept.append(replace(block, rows=rows))
    return [] if all(isinstance(block, str) for block in kept) else kept


def _count(groups: Groups) -> int:
    return sum(map(len, groups.values()))


def _write_lines(page: Page) -> Iterator[str]:
    intro, *more = (
        text.format(
            n_results=page.n_results,
            source=f"`{page.source}`",
            differences=page.differences,
        )
        for text in page.paper.intro
    )
    rows = chain(*(table.rows for table in page.tables))
    compares = any(cell.printed for row in rows for cell in row.cells.values())
    means = f"Figures are {_MEANS}. Scores are percents."
    if compares:
        means = (
            f"Before the slash are our figures: {_MEANS}, and in parentheses the "
            f"number of seeds. After it are {page.paper.called}'s. Scores are percents."
        )
    texts = [intro, means, *(more if compares else [])]
    for text in (f"# {page.paper.title}, measured again", *texts):
        yield from (text, "")
    for title, blocks in page.sections.items():
        yield from (f"## {title}", "")
        for block in blocks:
            yield from ([block] if isinstance(block, str) else _write_table(block))
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
    """Write ours, the number of seeds, a mark if it differs, and the paper's."""
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
    if value.deviation is None:
        return text
    return f"{text} ± {format(factor * value.deviation, spec.lstrip('+'))}"
