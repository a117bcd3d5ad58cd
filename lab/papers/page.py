"""The page of a paper: its tables with our figures, written as HTML or Markdown."""

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markdown_it import MarkdownIt
from markupsafe import Markup

from lab.figures import import_figure
from spacy_hashembeds.display import escape_markdown, write_markdown_code
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import choose_suffix, replacing

from ..trials.results import Estimate, Groups, find_misnamed, read_results, select_task
from . import PAPERS, hash_embeddings, hashformers, multi_hash_embeddings, why_attention
from .corpora import count_corpora
from .filling import Measured
from .missing import SEEDS, find_missing, read_grids
from .paper import REPORT, Paper, read_paper
from .tables import FORMATS, Cell, Figure, Sections, Table, describe_differences

#: How pages are written, by their suffix.
SUFFIXES = (".html", ".md")

_TASKS = {NER: "named entities", TEXTCAT: "text classifiers"}

#: What fills each paper's tables and figures with what was measured, and with what
#: other commands have written to the folder of results, if that can be read.
FILL: Mapping[str, Callable[[Paper, Measured, Path], Sections]] = {
    "multi-hash-embeddings": multi_hash_embeddings.fill,
    "hash-embeddings": hash_embeddings.fill,
    "why-attention": why_attention.fill,
    "hashformers": hashformers.fill,
}

#: What chooses trials, for papers that are not about all of their task.
_SELECT = {
    "why-attention": why_attention.select_trials,
    "hashformers": hashformers.select_trials,
}


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that a page shows."""

    paper: Paper
    source: Path  # the folder of results
    n_results: int  # how many of them are shown
    sections: Sections
    n_missing: int  # how many variants have fewer seeds than they should
    misnamed: Sequence[Path]  # files that were skipped for their name

    @property
    def tables(self) -> list[Table]:
        """Its tables, in order."""
        return _find_tables(self.sections)

    @property
    def figures(self) -> list[Figure]:
        """Its figures, in order."""
        blocks = chain(*self.sections.values())
        return [block for block in blocks if isinstance(block, Figure)]

    @property
    def differences(self) -> str:
        """Numbers of figures that differ among those that both have, by their kind."""
        if self.paper.incomparable:
            return self.paper.incomparable
        tables = [table for table in self.tables if table.number is not None]
        return describe_differences(tables, self.paper.called)

    @property
    def compares(self) -> bool:
        """Tell whether it has figures of the paper."""
        rows = chain(*(table.rows for table in self.tables))
        return any(cell.printed for row in rows for cell in row.cells.values())

    @property
    def intro(self) -> list[str]:
        """Its first words, as Markdown."""
        fields = {
            "n_results": self.n_results,
            "source": write_markdown_code(self.source),
            "differences": self.differences,
        }
        return [text.format(**fields) for text in self.paper.intro]


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
    if about.figures:
        # before the work
        import_figure()
    root = Path("corpus" if corpus_root is None else corpus_root)
    if corpus_root is not None and not root.is_dir():
        raise FileNotFoundError(
            f"'corpus_root' should be a folder of prepared corpora, but there is no "
            f"'{root}'. `python -m lab prepare` makes them."
        )
    grids = read_grids(about)
    groups = _read_trials(Path(results), about, on_progress)
    if paper in _SELECT:
        chosen = _SELECT[paper](about, groups, grids)
        if n_others := _count(groups) - _count(chosen):
            on_progress(f"Leaving out trials that the paper has not: {n_others:,}")
        groups = chosen
    counted = count_corpora(about, root, on_progress)
    measured = Measured(groups=groups, counted=counted)
    sections = FILL[paper](about, measured, Path(results))
    missing: list[Table] = []
    if any(key.dataset in about.datasets for key in groups):
        # also what rows are for that are left out
        missing.append(find_missing(about, groups, _find_tables(sections), grids))
    sections = {
        **sections,
        "Missing trials": [
            f"We average over {SEEDS} seeds. What has fewer on some dataset:",
            *missing,
        ],
    }
    sections = {title: _drop_empty(blocks) for title, blocks in sections.items()}
    return Page(
        paper=about,
        source=Path(results),
        n_results=_count(groups),
        sections={title: blocks for title, blocks in sections.items() if blocks},
        n_missing=sum(len(table.rows) for table in missing),
        misnamed=find_misnamed(results),
    )


def write_page(
    page: Page, output: str | Path, *, figures: str | Path | None = None
) -> None:
    """Write a page: self-contained HTML (also to an open file), or Markdown.

    figures: A folder for the figures, as PNG files. None: none for HTML, which has them
        inside; for Markdown, `<output without .md>_figures`.
    """
    suffix = choose_suffix(output, SUFFIXES)
    output = Path(output)
    if figures is None and suffix == ".md":
        figures = output.with_name(f"{output.stem}_figures")
    pictures = {each.name: each.draw() for each in page.figures if each.draw}
    paths = {}
    if figures is not None:
        paths = {name: Path(figures) / f"{name}.png" for name in pictures}
    if suffix == ".html":
        links = {
            name: f"data:image/png;base64,{b64encode(png).decode('ascii')}"
            for name, png in pictures.items()
        }
    else:
        links = {
            name: Path(os.path.relpath(path, output.parent)).as_posix()
            for name, path in paths.items()
        }
    template = _make_environment().get_template(f"page{suffix}.jinja")
    text = template.render(page=page, links=links)
    # halves of surrogate pairs, which names of files and JSON may hold, as escapes
    encoded = text.encode("utf8", errors="backslashreplace")
    # all is ready before anything is replaced: a page shows its own pictures
    with ExitStack() as stack:
        for name, path in paths.items():
            stack.enter_context(replacing(path)).write_bytes(pictures[name])
        stack.enter_context(replacing(output)).write_bytes(encoded)


def _read_trials(
    results: Path, paper: Paper, on_progress: Callable[[str], None]
) -> Groups:
    """Read the trials of a paper's task."""
    groups = read_results(results)
    chosen = select_task(groups, paper.task)
    n_others = _count(groups) - _count(chosen)
    (other,) = _TASKS.keys() - {paper.task}
    if not chosen:
        options = [name for name in PAPERS if read_paper(name).task == other]
        raise FileNotFoundError(
            f"There are no results of {_TASKS[paper.task]} in '{results}', which the "
            f"paper '{paper.name}' is about, only {n_others:,} of {_TASKS[other]}. "
            f"Choose a paper about these: --paper {' or --paper '.join(options)}."
        )
    if n_others:
        on_progress(f"Leaving out the results of {_TASKS[other]}: {n_others:,}")
    return chosen


def _drop_empty(blocks: Sequence[Table | Figure | str]) -> Sequence[Any]:
    """Leave out what has nothing of ours, but not tables that are the paper's alone."""
    kept: list[Table | Figure | str] = []
    for block in blocks:
        if isinstance(block, Table):
            rows = [row for row in block.rows if row.is_filled or not row.has_ours]
            ours = [row for row in block.rows if row.has_ours]
            if rows and (not ours or any(row.is_filled for row in ours)):
                kept.append(replace(block, rows=rows))
        elif isinstance(block, str) or block.draw:
            kept.append(block)
    return [] if all(isinstance(block, str) for block in kept) else kept


def _count(groups: Groups) -> int:
    return sum(map(len, groups.values()))


def _find_tables(sections: Sections) -> list[Table]:
    return [b for b in chain(*sections.values()) if isinstance(b, Table)]


def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=lambda name: name is not None and ".html" in name,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    prose = MarkdownIt("commonmark")
    environment.filters.update(
        ours=lambda value, kind: _format(value, kind, FORMATS[kind].ours),
        printed=lambda value, kind: _format(value, kind, FORMATS[kind].printed),
        mark=_get_mark,
        groups=_get_groups,
        anchor=lambda title: "".join(filter(str.isalnum, title)).lower(),
        md=escape_markdown,
        code=write_markdown_code,
        link=partial(quote, safe="/ "),
        prose=lambda text: Markup(prose.render(text)),
        inline=lambda text: Markup(prose.renderInline(text)),
    )
    environment.tests["text"] = lambda block: isinstance(block, str)
    environment.tests["table"] = lambda block: isinstance(block, Table)
    return environment


def _format(value: Estimate | None, kind: str, spec: str) -> str:
    if value is None:
        return "\N{EN DASH}"
    factor = FORMATS[kind].factor
    text = format(factor * value.mean, spec).replace("-", "\N{MINUS SIGN}")
    if value.deviation is None:
        return text
    return f"{text} ± {format(factor * value.deviation, spec.lstrip('+'))}"


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
