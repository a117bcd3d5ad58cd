"""The report "Multi hash embeddings in spaCy" with our figures, as HTML or Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_hashembeds.charts import import_figure

from ..trials.results import find_misnamed
from .corpus_tables import count_corpora, make_collision_table, make_corpus_tables
from .figures import FIGURES, draw_figures
from .findings import make_overview, make_seed_table
from .inputs import find_corpora, read_trials
from .missing import Missing, find_missing
from .pages import write_page
from .tables import Table, describe_differences, make_trial_tables


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
        return describe_differences(self.tables.values(), "the report")


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
    root = find_corpora(corpus_root)
    groups = read_trials(results, "multi-hash-embeddings", on_progress)
    tables = make_trial_tables(groups)
    on_progress("Drawing figures")
    figures = draw_figures(tables)
    counted = count_corpora(root, on_progress=on_progress)
    if not any(counted.values()):
        on_progress(
            f"None of the report's corpora in '{root}': tables 4 to 6 have no counts"
        )
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


def write_report(
    report: Report, output: str | Path, *, figures: str | Path | None = None
) -> None:
    """Write a report.

    report (Report): From `make_report`.
    output (str | Path): The file, as for `write_page`.
    figures (str | Path, optional): A folder for the figures, as PNG files
        `figure<number>.png`. None: as for `write_page`.
    RAISES (ValueError): If `output` ends in something else.
    """
    captions = {figure.number: figure.caption for figure in FIGURES}
    write_page(
        output,
        "report",
        {"report": report, "figures": captions},
        pictures={f"figure{number}": png for number, png in report.figures.items()},
        folder=figures,
    )
