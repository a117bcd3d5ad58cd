"""The tables of the report "Multi hash embeddings in spaCy", as data.

Each cell holds our figure and the report's own (`printed_tables.json`). The tables of
other papers are made of the same parts.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spacy_hashembeds.evaluation.scorer import KINDS

from ..trials.results import Estimate, Groups, TrialKey, estimate_score
from .layouts import (
    ABLATION_DATASETS,
    ABLATIONS,
    COUNTS,
    FEATURES,
    HASH,
    LAYOUTS,
    Column,
    Layout,
    Source,
    TrialColumn,
)
from .printed import REPORT, Paper, get_caption, get_notes, get_printed


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A figure of ours beside the paper's.

    ours (Estimate, optional): None where there is no trial, or nothing to score.
    printed (Estimate, optional): None where the paper has no figure.
    differs (bool): Whether they differ by more than chance and rounding explain.
    """

    ours: Estimate | None = None
    printed: Estimate | None = None
    differs: bool = False


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table.

    stub (tuple[str, ...]): What the row is of, under the headings of the stub.
    cells (Mapping[str, Cell]): The cell of each column, by the column's key.
    has_ours (bool): Whether there may be figures of ours in it.
    """

    stub: tuple[str, ...]
    cells: Mapping[str, Cell]
    has_ours: bool = True


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, to be written as HTML or Markdown or drawn.

    title (str): E.g. "Table 7".
    caption (str): What it shows.
    stub (tuple[str, ...]): Headings of the columns that say what a row is of.
    columns (Sequence[Column]): The columns of figures.
    rows (Sequence[Row]): The rows.
    notes (Sequence[str]): Footnotes.
    """

    title: str
    caption: str
    stub: tuple[str, ...]
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table of texts.

    title (str): E.g. "Table 4".
    caption (str): What it shows.
    headings (Sequence[str]): The headings of the columns.
    rows (Sequence[Sequence[str]]): A text for each column.
    notes (Sequence[str]): Footnotes.
    """

    title: str
    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


def make_trial_tables(groups: Groups) -> dict[int, Table]:
    """Fill the tables that trials fill: all but 4, 5 and 6.

    groups (Groups): What `read_results` returns.
    RETURNS (dict[int, Table]): The tables by the report's number.
    """
    tables = {layout.number: fill_layout(layout, groups) for layout in LAYOUTS}
    for number, dataset in ABLATION_DATASETS.items():
        tables[number] = _make_ablation(number, dataset, groups)
    return dict(sorted(tables.items()))


def make_table(
    number: int,
    stub: tuple[str, ...],
    columns: Sequence[Column],
    rows: Sequence[Row],
    paper: Paper = REPORT,
) -> Table:
    """Make one of a paper's tables, with its caption and notes.

    number (int): The paper's number of it.
    stub (tuple[str, ...]): Headings of the columns that say what a row is of.
    columns (Sequence[Column]): The columns of figures.
    rows (Sequence[Row]): The rows.
    paper (Paper): The paper.
    RETURNS (Table): The table.
    """
    return Table(
        title=f"Table {number}",
        caption=get_caption(number, paper),
        stub=stub,
        columns=columns,
        rows=rows,
        notes=get_notes(number, paper),
    )


def make_text_table(
    number: int, headings: Sequence[str], rows: Sequence[Sequence[str]], paper: Paper
) -> TextTable:
    """Make one of a paper's tables of texts, with its caption and notes.

    number (int): The paper's number of it.
    headings (Sequence[str]): The headings of the columns.
    rows (Sequence[Sequence[str]]): A text for each column.
    paper (Paper): The paper.
    RETURNS (TextTable): The table.
    """
    return TextTable(
        title=f"Table {number}",
        caption=get_caption(number, paper),
        headings=headings,
        rows=rows,
        notes=get_notes(number, paper),
    )


def fill_layout(layout: Layout, groups: Groups, paper: Paper = REPORT) -> Table:
    """Fill a table that has a row for each dataset.

    layout (Layout): The table.
    groups (Groups): What `read_results` returns.
    paper (Paper): The paper whose table it is.
    RETURNS (Table): The table.
    """
    rows = []
    for dataset in layout.datasets:
        cells = {}
        for column in layout.columns:
            printed = get_printed(layout.number, dataset, column.key, paper)
            ours = estimate_source(groups, dataset, column.source)
            cells[column.key] = compare(ours, printed, paper)
        rows.append(Row(stub=(paper.datasets[dataset],), cells=cells))
    return make_table(layout.number, ("",), layout.columns, rows, paper)


def compare(
    ours: Estimate | None, printed: Estimate | None, paper: Paper = REPORT
) -> Cell:
    """Set two means side by side, and see whether they differ by more than chance.

    They do if |ours - printed| > 2 sqrt(sd_ours^2 + sd_printed^2), the deviations being
    those of single seeds, divided by n. With three seeds on both sides this is Welch's
    t beyond 2.83, which chance exceeds about once in 20 comparisons; where a deviation
    is unknown, more often: see docs/report.md.

    The printed deviation counts as half of the last printed place at least, since it
    and its mean are rounded: 0.005 in the report.
    A deviation that is unknown (one seed, or none printed) is taken to be the other
    one; where both are, no difference is marked.

    ours (Estimate, optional): Our mean.
    printed (Estimate, optional): The paper's mean.
    paper (Paper): The paper.
    RETURNS (Cell): Both, and whether they differ.
    """
    differs = False
    if ours is not None and printed is not None:
        deviations = _get_deviations(ours, printed, paper.rounding)
        distance = abs(ours.mean - printed.mean)
        differs = bool(deviations) and distance > 2 * math.hypot(*deviations)
    return Cell(ours=ours, printed=printed, differs=differs)


def find_compared(tables: Iterable[Table], *, counts: bool) -> list[Cell]:
    """Find the cells that have both our figure and the report's, each figure once.

    Several tables show the same trials: table 10 repeats MultiEmbed's scores of table
    9. Where the report prints different figures for them, each is one.

    tables (Iterable[Table]): The tables.
    counts (bool): Whether to find what is counted in corpora, or else the scores.
    RETURNS (list[Cell]): The first cell of each figure.
    """
    found: dict[object, Cell] = {}
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                cell = row.cells[column.key]
                if cell.ours is None or cell.printed is None:
                    continue
                if counts == (column.kind in COUNTS):
                    source: object = (table.title, column.key)
                    if isinstance(column, TrialColumn):
                        source = column.source
                    found.setdefault((row.stub, source, cell.printed.mean), cell)
    return list(found.values())


def describe_differences(tables: Iterable[Table], name: str) -> str:
    """Say how many of the figures that both have differ, scores and counts apart.

    tables (Iterable[Table]): The tables.
    name (str): Which paper's they are, e.g. "the report".
    RETURNS (str): A sentence, without its full stop.
    """
    kinds = {"scores": False, "counts of the corpora": True}
    tables = list(tables)
    compared = {
        kind: find_compared(tables, counts=counts) for kind, counts in kinds.items()
    }
    parts = [
        f"{sum(cell.differs for cell in cells)} of {len(cells)} {kind}"
        for kind, cells in compared.items()
        if cells
    ]
    if not parts:
        return f"No figure can be compared with {name}'s"
    return f"{' and '.join(parts)} differ from {name}"


def relative_error_increase(
    f: Estimate | None, baseline: Estimate | None
) -> Estimate | None:
    """How much larger an error is than the baseline's: e / e0 - 1, with e = 1 - F.

    The report (section 5.3, tables 2 and 3) prints no formula. This one gives each of
    its percentages from F1 scores of two decimals.

    f (Estimate, optional): The F1 score, 0 to 1.
    baseline (Estimate, optional): The F1 score with all features.
    RETURNS (Estimate, optional): The increase as a fraction. Its deviation is that of a
        quotient, to first order. None if a score is, or if the baseline has no error.
    """
    if f is None or baseline is None or baseline.mean == 1:
        return None
    error, base_error = (replace(each, mean=1 - each.mean) for each in (f, baseline))
    ratio = divide(error, base_error)
    return replace(ratio, mean=ratio.mean - 1)


def divide(dividend: Estimate, divisor: Estimate) -> Estimate:
    """Divide one mean over seeds by another one, of seeds that have no pairs.

    dividend (Estimate): The one.
    divisor (Estimate): The other, which is not 0.
    RETURNS (Estimate): Its deviation is that of a quotient, to first order. None if one
        of them has none.
    """
    ratio = dividend.mean / divisor.mean
    n = min(dividend.n or 0, divisor.n or 0)
    deviation = None
    if dividend.deviation is not None and divisor.deviation is not None:
        distance = math.hypot(dividend.deviation, ratio * divisor.deviation)
        deviation = distance / divisor.mean
    return Estimate(mean=ratio, deviation=deviation, n=n)


def estimate_source(groups: Groups, dataset: str, source: Source) -> Estimate | None:
    """Average the score that a column shows of a dataset.

    groups (Groups): What `read_results` returns.
    dataset (str): The dataset.
    source (Source): The trials and their score.
    RETURNS (Estimate, optional): None if there are no such trials.
    """
    embedder, variant, split, score = source
    results = groups.get(TrialKey(dataset, embedder, variant), ())
    return estimate_score(results, split, score)


def _get_deviations(
    ours: Estimate, printed: Estimate, rounding: float
) -> tuple[float, ...]:
    own, theirs = ours.deviation, printed.deviation
    if theirs is None:
        theirs = own
    if theirs is None:
        return ()
    theirs = max(theirs, rounding)
    return (theirs if own is None else own, theirs)


def _make_ablation(number: int, dataset: str, groups: Groups) -> Table:
    rows = []
    for variant, features in ABLATIONS.items():
        cells = {}
        for kind, prefix in KINDS.items():
            source = Source(HASH, variant, "test", f"{prefix}_f")
            f = estimate_source(groups, dataset, source)
            baseline = estimate_source(
                groups, dataset, source._replace(variant="default")
            )
            increase = relative_error_increase(f, baseline)
            cells[kind] = compare(increase, get_printed(number, variant, kind))
        stub = tuple("✓" if feature in features else "" for feature in FEATURES)
        rows.append(Row(stub=stub, cells=cells))
    group = "Relative Error (F1-score)"
    columns = [
        Column(key=kind, label=kind.title(), group=group, kind="percent")
        for kind in KINDS
    ]
    # all others are compared with the first row, as the report has it
    rows[0] = replace(rows[0], cells={kind: Cell() for kind in KINDS})
    return make_table(number, FEATURES, columns, rows)
