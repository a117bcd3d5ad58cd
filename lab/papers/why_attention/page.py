"""The paper's tables and figure with our figures, as HTML or Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_hashembeds.charts import import_figure

from ...trials.configs import locate_grid
from ...trials.grid import Grid, read_grid
from ...trials.results import Groups, find_misnamed
from ..inputs import find_corpora, read_trials
from ..layouts import Trials
from ..missing import Missing, find_unplanned
from ..pages import write_page
from ..tables import Table, describe_differences
from .chunking import ABLATION_COMMAND, make_chunk_table
from .corpora import count_corpora, make_corpus_table
from .heatmaps import ATTENTION_COMMAND, Heatmaps, draw_attention
from .layouts import DATASETS, NAMES
from .missing import GRID, find_missing
from .tables import make_overview, make_trial_tables


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that the page shows.

    source (Path): The folder of results.
    n_results (int): How many results of the grid's trials it holds.
    overview (Table): All of these.
    tables (Mapping[int, Table]): The paper's tables 1 to 5.
    pictures (Sequence[Heatmaps]): Its figure 2, of each pipeline that there is one of.
    missing (Sequence[Missing]): The trials of the grid that are still to be run.
    unplanned (Sequence[str]): The paper's datasets that the grid has no trials on.
    misnamed (Sequence[Path]): Files among the results that were skipped for their name.
    """

    source: Path
    n_results: int
    overview: Table
    tables: Mapping[int, Table]
    pictures: Sequence[Heatmaps]
    missing: Sequence[Missing]
    unplanned: Sequence[str]
    misnamed: Sequence[Path]

    @property
    def differences(self) -> str:
        """How many of the figures that both have differ, scores and counts apart."""
        return describe_differences(self.tables.values(), "the paper")


def make_page(
    results: str | Path,
    *,
    corpus_root: str | Path | None = None,
    on_progress: Callable[[str], None] = lambda line: None,
) -> Page:
    """Fill the paper's tables from the results that are there.

    results (str | Path): The folder of results: see `read_results`.
    corpus_root (str | Path, optional): The folder of prepared corpora, for table 2.
        None: "corpus", if it is there.
    on_progress (Callable[[str], None]): Called with each step.
    RAISES (FileNotFoundError): If there are no results of named entities, or no such
        folder of corpora.
    RAISES (ValueError): If a result, a corpus or the grid can't be read.
    RAISES (ImportError): If matplotlib is not installed.
    RETURNS (Page): The page, to be written with `write_why_attention`.
    """
    # before the work
    import_figure()
    root = find_corpora(corpus_root)
    grid = read_grid(locate_grid(GRID))
    order = _order_trials(grid)
    groups = read_trials(results, "why-attention", on_progress)
    groups = _select(groups, order, on_progress)
    chunks = make_chunk_table(results)
    on_progress("Drawing figures")
    pictures = draw_attention(results)
    counted = count_corpora(root, on_progress=on_progress)
    if not any(split for splits in counted.values() for split in splits.values()):
        on_progress(f"None of the paper's corpora in '{root}': table 2 has no counts")
    tables = {**make_trial_tables(groups), 2: make_corpus_table(counted), 5: chunks}
    return Page(
        source=Path(results),
        n_results=sum(map(len, groups.values())),
        overview=make_overview(groups, order),
        tables=dict(sorted(tables.items())),
        pictures=pictures,
        missing=find_missing(groups, grid),
        unplanned=find_unplanned(grid, DATASETS),
        misnamed=find_misnamed(results),
    )


def write_why_attention(
    page: Page, output: str | Path, *, figures: str | Path | None = None
) -> None:
    """Write the page.

    page (Page): From `make_page`.
    output (str | Path): The file, as for `write_page`.
    figures (str | Path, optional): A folder for the pictures, `attention1.png` and so
        on. None: as for `write_page`.
    RAISES (ValueError): If `output` ends in something else.
    """
    names = {f"attention{i}": each for i, each in enumerate(page.pictures, start=1)}
    write_page(
        output,
        "why_attention",
        {
            "page": page,
            "captions": {name: picture.caption for name, picture in names.items()},
            "ablation_command": ABLATION_COMMAND,
            "attention_command": ATTENTION_COMMAND,
            "grid": GRID,
        },
        pictures={name: picture.png for name, picture in names.items()},
        folder=figures,
    )


def _order_trials(grid: Grid) -> list[Trials]:
    """List the trials that belong here: those of the tables, and others of the grid."""
    planned = [Trials(row.embedder, row.variant) for row in grid.rows]
    return list(dict.fromkeys([*NAMES, *planned]))


def _select(
    groups: Groups, trials: Sequence[Trials], on_progress: Callable[[str], None]
) -> Groups:
    chosen = {key: groups[key] for key in groups if key[1:] in trials}
    n_others = sum(len(groups[key]) for key in groups if key not in chosen)
    if n_others:
        on_progress(f"Leaving out trials that the grid '{GRID}' lacks: {n_others:,}")
    return chosen
