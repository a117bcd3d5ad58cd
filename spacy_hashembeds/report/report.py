"""The report "Multi hash embeddings in spaCy" with our figures, as HTML or Markdown."""

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, PackageLoader

from .. import markdown
from ..evaluation.tasks import NER
from ..experiments.results import (
    Estimate,
    Groups,
    find_misnamed,
    read_results,
    select_task,
)
from ..files import find_descriptor, replacing
from .charts import import_figure
from .corpus_tables import count_corpora, make_collision_table, make_corpus_tables
from .figures import FIGURES, draw_figures
from .findings import make_overview, make_seed_table
from .layouts import DATASET_NAMES
from .missing import SEEDS, Missing, find_missing
from .tables import Cell, Table, find_compared, make_trial_tables

_TEMPLATES = {".html": "report.html.jinja", ".md": "report.md.jinja"}

# How a kind of figures is written: times what, our mean, a deviation, the printed mean.
# Scores are percents, to the places that the report prints, and one more for ours.
_FORMATS = {
    "score": (100, "{:.1f}", "{:.1f}", "{:.0f}"),
    "change": (100, "{:+.1f}", "{:.1f}", "{:+.0f}"),
    "percent": (1, "{:+.0%}", "{:.0%}", "{:+.0%}"),
    "count": (1, "{:,.0f}", "", "{:,.0f}"),
    "decimal": (1, "{:.2f}", "", "{:g}"),
}


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a report shows.

    source (Path): The folder of results.
    n_results (int): How many results it holds.
    seeds (Table): F1 with hash seed 8 beside 9, our own finding.
    collisions (Table): Collisions with hash seed 8 beside 9.
    overview (Table): All trials.
    tables (Mapping[int, Table]): The report's tables 1 to 17.
    figures (Mapping[int, bytes]): PNG files of the figures for which there are trials.
    missing (Sequence[Missing]): The trials that are still to be run.
    misnamed (Sequence[Path]): Files among the results that were skipped for their name.
    """

    source: Path
    n_results: int
    seeds: Table
    collisions: Table
    overview: Table
    tables: Mapping[int, Table]
    figures: Mapping[int, bytes]
    missing: Sequence[Missing]
    misnamed: Sequence[Path]

    @property
    def differences(self) -> str:
        """How many of the figures that both have differ, scores and counts apart."""
        kinds = {"scores": False, "counts of the corpora": True}
        compared = {
            name: find_compared(self.tables.values(), counts=counts)
            for name, counts in kinds.items()
        }
        parts = [
            f"{sum(cell.differs for cell in cells)} of {len(cells)} {name}"
            for name, cells in compared.items()
            if cells
        ]
        if not parts:
            return "No figure can be compared with the report's"
        return f"{' and '.join(parts)} differ from the report"


def make_report(
    results: str | Path,
    *,
    corpus_root: str | Path | None = None,
    on_progress: Callable[[str], None] = lambda line: None,
) -> Report:
    """Fill the report from the results that are there.

    results (str | Path): The folder of results: see `read_results`.
    corpus_root (str | Path, optional): The folder of prepared corpora, for tables 4 to
        6. None: "corpus", if it is there.
    on_progress (Callable[[str], None]): Called with each step.
    RAISES (FileNotFoundError): If there are no results of named entities, or no such
        folder of corpora.
    RAISES (ValueError): If a result or a corpus can't be read.
    RAISES (ImportError): If matplotlib is not installed.
    RETURNS (Report): The report, to be written with `write_report`.
    """
    # before the work
    import_figure()
    root = _find_corpora(corpus_root)
    groups = _read_trials(results, on_progress)
    tables = make_trial_tables(groups)
    on_progress("Drawing figures")
    figures = draw_figures(tables)
    counted = count_corpora(root, on_progress=on_progress)
    if not any(counted.values()):
        on_progress(f"No prepared corpora in '{root}': tables 4 to 6 have no counts")
    tables.update(make_corpus_tables(counted))
    return Report(
        source=Path(results),
        n_results=sum(map(len, groups.values())),
        seeds=make_seed_table(groups),
        overview=make_overview(groups),
        collisions=make_collision_table(counted),
        tables=dict(sorted(tables.items())),
        figures=figures,
        missing=find_missing(groups),
        misnamed=find_misnamed(results),
    )


def _read_trials(results: str | Path, on_progress: Callable[[str], None]) -> Groups:
    """Read the trials that the report is about, which has no text classifiers."""
    groups = read_results(results)
    chosen = select_task(groups, NER)
    n_others = sum(map(len, groups.values())) - sum(map(len, chosen.values()))
    if not chosen:
        raise FileNotFoundError(
            f"There are no results of named entities in '{results}', which the report "
            f"is about, only {n_others:,} of text classifiers."
        )
    if n_others:
        on_progress(f"Leaving out the results of text classifiers: {n_others:,}")
    return chosen


def check_output(output: str | Path) -> None:
    """Check that we can write a report to a file, before the work.

    RAISES (ValueError): If its name ends in neither `.html` nor `.md`, and it is no
        open file either.
    """
    if _get_suffix(output) not in _TEMPLATES:
        raise ValueError(
            f"'output' should end in {' or '.join(_TEMPLATES)}, but is '{output}'."
        )


def write_report(
    report: Report, output: str | Path, *, figures: str | Path | None = None
) -> None:
    """Write a report.

    report (Report): From `make_report`.
    output (str | Path): The file: self-contained HTML (`.html`), or Markdown (`.md`).
        To an open file, such as `/dev/stdout`, HTML is written.
    figures (str | Path, optional): A folder for the figures, as PNG files
        `figure<number>.png`. None: none for HTML, which has them inside; for
        Markdown, `<output without .md>_figures`.
    RAISES (ValueError): If `output` ends in something else.
    """
    check_output(output)
    output = Path(output)
    if figures is None and output.suffix == ".md":
        figures = output.with_name(f"{output.stem}_figures")
    links = {} if figures is None else _write_figures(report, output, Path(figures))
    suffix = _get_suffix(output)
    if suffix == ".html":
        links = {
            number: f"data:image/png;base64,{b64encode(png).decode('ascii')}"
            for number, png in report.figures.items()
        }
    text = _make_environment().get_template(_TEMPLATES[suffix])
    with replacing(output) as temporary:
        temporary.write_text(
            text.render(
                report=report,
                links=links,
                figures={figure.number: figure.caption for figure in FIGURES},
                n_seeds=SEEDS,
            ),
            encoding="utf8",
        )


def _get_suffix(output: str | Path) -> str:
    return ".html" if find_descriptor(output) is not None else Path(output).suffix


def _find_corpora(root: str | Path | None) -> Path:
    if root is not None and not Path(root).is_dir():
        raise FileNotFoundError(
            f"'corpus_root' should be a folder of prepared corpora, but there is no "
            f"'{root}'. `spacy hashembeds prepare` makes them."
        )
    return Path("corpus" if root is None else root)


def _write_figures(report: Report, output: Path, folder: Path) -> dict[int, str]:
    """Write PNG files; give their paths, as seen from the report."""
    links = {}
    for number, png in report.figures.items():
        path = folder / f"figure{number}.png"
        with replacing(path) as temporary:
            temporary.write_bytes(png)
        links[number] = Path(os.path.relpath(path, output.parent)).as_posix()
    return links


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
        datasets=_format_datasets,
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


def _format_datasets(missing: Missing) -> str:
    """List datasets, with the number of seeds where there are some."""
    if missing.seeds == dict.fromkeys(DATASET_NAMES, 0):
        return f"all {len(DATASET_NAMES)}"
    return ", ".join(
        name + (f" ({n} of {SEEDS} seeds)" if (n := missing.seeds[dataset]) else "")
        for dataset, name in DATASET_NAMES.items()
        if dataset in missing.seeds
    )
