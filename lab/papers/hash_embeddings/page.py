"""The paper's tables with our figures, as HTML or Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_hashembeds.charts import import_figure

from ...trials.results import find_misnamed
from ..inputs import find_corpora, read_trials
from ..missing import Missing, find_unplanned
from ..pages import write_page
from ..tables import Table, TextTable, describe_differences
from .corpora import count_corpora, make_corpus_table
from .importance import IMPORTANCE_COMMAND, make_importance_table
from .layouts import DATASETS
from .missing import GRID, find_missing, read_paper_grid
from .picture import CAPTION, draw_sizes
from .tables import make_overview, make_trial_tables


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that the page shows.

    source (Path): The folder of results.
    n_results (int): How many results of text classifiers it holds.
    overview (Table): All trials.
    tables (Mapping[int, Table]): The paper's tables 1 to 3.
    importance (TextTable): Its table 4.
    picture (bytes, optional): A PNG file of accuracy against parameters, if there are
        trials.
    missing (Sequence[Missing]): The trials of the grid that are still to be run.
    unplanned (Sequence[str]): The paper's datasets that the grid has no trials on.
    misnamed (Sequence[Path]): Files among the results that were skipped for their name.
    """

    source: Path
    n_results: int
    overview: Table
    tables: Mapping[int, Table]
    importance: TextTable
    picture: bytes | None
    missing: Sequence[Missing]
    unplanned: Sequence[str]
    misnamed: Sequence[Path]

    @property
    def differences(self) -> str:
        """How many of the figures that both have differ, scores and counts apart.

        Table 3 repeats those of table 2, but for two, with which the paper contradicts
        itself.
        """
        return describe_differences([self.tables[1], self.tables[2]], "the paper")


def make_page(
    results: str | Path,
    *,
    corpus_root: str | Path | None = None,
    on_progress: Callable[[str], None] = lambda line: None,
) -> Page:
    """Fill the paper's tables from the results that are there.

    results (str | Path): The folder of results: see `read_results`.
    corpus_root (str | Path, optional): The folder of prepared corpora, for table 1.
        None: "corpus", if it is there.
    on_progress (Callable[[str], None]): Called with each step.
    RAISES (FileNotFoundError): If there are no results of text classifiers, or no such
        folder of corpora.
    RAISES (ValueError): If a result, a corpus or the grid can't be read.
    RAISES (ImportError): If matplotlib is not installed.
    RETURNS (Page): The page, to be written with `write_hash_embeddings`.
    """
    # before the work
    import_figure()
    root = find_corpora(corpus_root)
    grid = read_paper_grid()
    groups = read_trials(results, "hash-embeddings", on_progress)
    importance = make_importance_table(results)
    on_progress("Drawing figures")
    picture = draw_sizes(groups)
    counted = count_corpora(root, on_progress=on_progress)
    if not any(counted.values()):
        on_progress(f"None of the paper's corpora in '{root}': table 1 has no counts")
    return Page(
        source=Path(results),
        n_results=sum(map(len, groups.values())),
        overview=make_overview(groups),
        tables={1: make_corpus_table(counted), **make_trial_tables(groups)},
        importance=importance,
        picture=picture,
        missing=find_missing(groups, grid),
        unplanned=find_unplanned(grid, DATASETS),
        misnamed=find_misnamed(results),
    )


def write_hash_embeddings(
    page: Page, output: str | Path, *, figures: str | Path | None = None
) -> None:
    """Write the page.

    page (Page): From `make_page`.
    output (str | Path): The file, as for `write_page`.
    figures (str | Path, optional): A folder for the picture, `parameters.png`. None: as
        for `write_page`.
    RAISES (ValueError): If `output` ends in something else.
    """
    write_page(
        output,
        "hash_embeddings",
        {
            "page": page,
            "caption": CAPTION,
            "command": IMPORTANCE_COMMAND,
            "grid": GRID,
        },
        pictures={} if page.picture is None else {"parameters": page.picture},
        folder=figures,
    )
