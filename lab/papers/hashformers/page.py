"""The paper's tables and ours, as HTML or Markdown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...trials.results import find_misnamed
from ..inputs import find_corpora, read_trials
from ..missing import Missing
from ..pages import write_page
from ..tables import Table, TextTable
from .counts import make_count_table
from .hyperparameters import make_hyperparameter_tables
from .missing import find_missing
from .tables import make_overview, make_paper_tables, make_ratio_table, select_trials


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that the page shows.

    source (Path): The folder of results.
    n_results (int): How many results of HashFormers, and of what they are compared
        with, it holds.
    overview (Table): All of these.
    ratios (Table): The same beside their baseline, as tables 2 and 3 have it.
    tables (Mapping[int, Table]): The paper's tables 1 to 3.
    counts (TextTable): The embedding parameters of its appendix B.
    hyperparameters (Mapping[int, TextTable]): Its tables 4 and 5.
    missing (Sequence[Missing]): The trials that are still to be run.
    misnamed (Sequence[Path]): Files among the results that were skipped for their name.
    """

    source: Path
    n_results: int
    overview: Table
    ratios: Table
    tables: Mapping[int, Table]
    counts: TextTable
    hyperparameters: Mapping[int, TextTable]
    missing: Sequence[Missing]
    misnamed: Sequence[Path]

    @property
    def differences(self) -> str:
        """That none is marked: the paper's figures are of other tasks."""
        return "The paper's figures are of GLUE, ours of named entities"


def make_page(
    results: str | Path,
    *,
    corpus_root: str | Path | None = None,
    on_progress: Callable[[str], None] = lambda line: None,
) -> Page:
    """Set our trials below the paper's tables.

    results (str | Path): The folder of results: see `read_results`.
    corpus_root (str | Path, optional): A folder of prepared corpora, which must be
        there, as for other papers. Nothing is counted in it: this one counts no corpus.
    on_progress (Callable[[str], None]): Called with what is left out.
    RAISES (FileNotFoundError): If there are no results of named entities, or no such
        folder of corpora.
    RAISES (ValueError): If a result, or the config of the paper's size, can't be read.
    RETURNS (Page): The page, to be written with `write_hashformers`.
    """
    find_corpora(corpus_root)
    groups = read_trials(results, "hashformers", on_progress)
    chosen = select_trials(groups)
    n_others = sum(len(groups[key]) for key in groups if key not in chosen)
    if n_others:
        on_progress(f"Leaving out trials of other embedders: {n_others:,}")
    return Page(
        source=Path(results),
        n_results=sum(map(len, chosen.values())),
        overview=make_overview(chosen),
        ratios=make_ratio_table(chosen),
        tables=make_paper_tables(),
        counts=make_count_table(),
        hyperparameters=make_hyperparameter_tables(),
        missing=find_missing(chosen),
        misnamed=find_misnamed(results),
    )


def write_hashformers(
    page: Page, output: str | Path, *, figures: str | Path | None = None
) -> None:
    """Write the page.

    page (Page): From `make_page`.
    output (str | Path): The file, as for `write_page`.
    figures (str | Path, optional): A folder for pictures, as for other papers. There
        are none.
    RAISES (ValueError): If `output` ends in something else.
    """
    write_page(output, "hashformers", {"page": page}, pictures={}, folder=figures)
