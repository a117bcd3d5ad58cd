"""Papers' tables of figures, ours beside what is printed, and how the two are compared.

What a paper prints, and what fills its tables, is data: data/NAME.json.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Decimal
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..trials.results import Estimate


class Format(NamedTuple):
    """Format of figures of one kind, ours and the paper's."""

    ours: str
    printed: str
    rounding: float = 0  # half of the last printed place of a score; 0 for a count
    factor: int = 1  # 100 for fractions that are written as percents


#: The kinds of figures: scores of papers that print percents, tenths of them or
#: hundredths, changes of such scores, changes as fractions, and what is counted.
FORMATS = {
    "score": Format(".1f", ".0f", 0.005, 100),
    "exact": Format(".1f", ".1f", 0.0005, 100),
    "fine": Format(".2f", ".2f", 0.00005, 100),
    "change": Format("+.1f", "+.0f", 0.005, 100),
    "exact_change": Format("+.1f", "+.1f", 0.0005, 100),
    "fine_change": Format("+.2f", "+.2f", 0.00005, 100),
    "percent": Format("+.0%", "+.0%", 0.005),
    "count": Format(",.0f", ",.0f"),
    "decimal": Format(".2f", "g"),
    "tenths": Format(".1f", ".1f"),
    "thousands": Format(",.3f", ",.1f"),
}

#: What a figure is of: the "dataset", the "trials" (EMBEDDER/VARIANT), and which
#: "score" (SPLIT/NAME) or "size" of theirs, or else what "count" of the dataset.
Source = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A figure of ours beside the paper's."""

    ours: Estimate | None = None  # None: no trial, or nothing to score
    printed: Estimate | None = None  # None: the paper has no figure
    differs: bool = False  # by more than chance and rounding explain
    source: Source = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table."""

    key: str  # its name in the paper's data
    label: str
    group: str = ""  # the heading above it and its neighbours
    kind: str = "score"  # one of `FORMATS`
    source: Source = field(default_factory=dict)  # what its figures have in common


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table."""

    stub: tuple[str, ...]  # what it is of, under the headings of the stub
    cells: Mapping[str, Cell] = field(default_factory=dict)  # by the column's key
    has_ours: bool = True  # True if there may be figures of ours in it

    @property
    def is_filled(self) -> bool:
        """True if there is one, or words of ours."""
        ours = [cell.ours for cell in self.cells.values()]
        return self.has_ours and (not ours or any(each is not None for each in ours))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table. One of texts has nothing but a stub."""

    number: int | None = None  # the paper's; None: a table of our own
    title: str
    caption: str
    stub: Sequence[str]  # headings of the columns that say what a row is of
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()


#: The tables under each heading of a page.
Sections = Mapping[str, Sequence[Table]]


#: Keys of a column that are not of its source.
_SHOWN = ("label", "group", "kind")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose tables are filled: the data of a file in data/."""

    source: str  # where its figures are from
    about: str  # how they are written down
    title: str
    called: str  # "the paper", or "the report"
    task: str  # "ner" or "textcat"
    intro: Sequence[str]  # Markdown, with fields
    datasets: Mapping[str, str]  # its names for them, in its order
    trials: Mapping[str, str]  # names of trials that have one, in the order of rows
    grids: Sequence[str] = ()  # all of whose trials belong to it
    # by number or name: caption, notes, columns, what is printed as rows, and so on
    tables: Mapping[str, Mapping[str, Any]]
    # rows that are the paper's alone
    models: Mapping[str, str] = field(default_factory=dict)
    # for trials the row of the same model
    same: Mapping[str, str] = field(default_factory=dict)
    seeds: int = 3  # how many are in a printed deviation
    incomparable: str = ""  # why its figures and ours are not compared, if not

    def get_printed(self, table: str, row: str, column: str) -> Estimate | None:
        """Look up a figure. None if the paper prints none."""
        value = self.get_rows(table).get(row, {}).get(column)
        if isinstance(value, list):
            return Estimate(mean=value[0], deviation=value[1], n=self.seeds)
        return None if value is None else Estimate(mean=value)

    def get_rows(self, table: str) -> Mapping[str, Mapping[str, Any]]:
        """Get what is printed in each row of a table, in the paper's order."""
        return self.tables[table].get("rows", {})

    @cached_property
    def columns(self) -> Mapping[str, list[Column]]:
        """The columns of each table, and what fills them."""
        return {
            name: [
                Column(
                    key=key,
                    source={k: v for k, v in values.items() if k not in _SHOWN},
                    **{"kind": layout.get("kind", "score")}
                    | {k: values[k] for k in _SHOWN if k in values},
                )
                for key, values in layout.get("columns", {}).items()
            ]
            for name, layout in self.tables.items()
        }

    def make_table(
        self, table: str, rows: Iterable[Row], columns: Sequence[Column] | None = None
    ) -> Table:
        """Make one of its tables, with columns of the data if no others are given."""
        layout = self.tables[table]
        return Table(
            number=int(table) if table.isdigit() else None,
            title=layout.get("title", f"Table {table}"),
            caption=layout["caption"],
            stub=layout.get("stub", [""]),
            columns=self.columns[table] if columns is None else columns,
            rows=list(rows),
            notes=layout.get("notes", []),
        )

    def name_dataset(self, dataset: str) -> str:
        """Name a dataset: as the paper does, if it is one of the paper's."""
        return self.datasets.get(dataset, dataset)

    def name_trials(self, trials: str) -> str:
        """Name EMBEDDER/VARIANT: by both, if it has no other name."""
        return self.trials.get(trials, trials.replace("/", " "))

    def find_printed(self, source: Source) -> Estimate | None:
        """Look up a score of trials, in the first table with a row for each dataset."""
        wanted = {key: source.get(key) for key in ("trials", "score")}
        for table in self.tables:
            if source["dataset"] in self.get_rows(table):
                for column in self.columns[table]:
                    if column.source == wanted:
                        return self.get_printed(table, source["dataset"], column.key)
        return None


@cache
def read_paper(name: str) -> Paper:
    """Read the data of a paper, data/NAME.json."""
    path = Path(__file__).parent / "data" / f"{name}.json"
    return Paper(**json.loads(path.read_text(encoding="utf8")))


def compare(
    ours: Estimate | None,
    printed: Estimate | None,
    kind: str = "score",
    source: Source | None = None,
) -> Cell:
    """Set two figures side by side, and see whether they differ by more than chance.

    Means do if |ours - printed| > 2 sqrt(sd_ours^2 + sd_printed^2), the deviations
    being those of single seeds, divided by n. With three seeds on both sides this is
    Welch's t beyond 2.83, which chance exceeds about once in 20 comparisons.

    The printed deviation counts as half of the last printed place at least, since it
    and its mean are rounded. A deviation that is unknown (one seed, or none printed) is
    taken to be the other one; where both are, no difference is marked. What is counted
    should be equal, to the last place printed.
    """
    differs = False
    if ours is not None and printed is not None:
        if rounding := FORMATS[kind].rounding:
            deviations = [ours.deviation, printed.deviation]
            known = [each for each in deviations if each is not None]
            if known:
                theirs = max(known[-1], rounding)
                own = theirs if ours.deviation is None else ours.deviation
                differs = abs(ours.mean - printed.mean) > 2 * math.hypot(own, theirs)
        else:
            counted, given = Decimal(str(ours.mean)), Decimal(str(printed.mean))
            if kind == "thousands":
                # as the paper has them: cut off after a tenth, not rounded
                counted = counted.quantize(Decimal("0.1"), ROUND_FLOOR)
            half = Decimal(5).scaleb(int(given.as_tuple().exponent) - 1)
            differs = abs(counted - given) > half
    return Cell(ours=ours, printed=printed, differs=differs, source=source or {})


def describe_differences(tables: Iterable[Table], name: str) -> str:
    """Describe how many of the figures that both have differ, scores and counts apart,
    each figure once: table 10 of the report repeats scores of its table 9.
    """
    found: dict[str, dict[object, bool]] = {"scores": {}, "counts of the corpora": {}}
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                cell = row.cells[column.key]
                if cell.ours is None or cell.printed is None:
                    continue
                source: object = tuple(sorted(cell.source.items()))
                place = source or (table.title, row.stub, column.key)
                is_score = FORMATS[column.kind].rounding
                of = found["scores" if is_score else "counts of the corpora"]
                of.setdefault((place, cell.printed.mean), cell.differs)
    counted = [(what, [*of.values()]) for what, of in found.items() if of]
    parts = [f"{sum(of)} of {len(of)} {what}" for what, of in counted]
    if not parts:
        return f"No figure can be compared with {name}'s"
    return f"{' and '.join(parts)} differ from {name}"


def relative_error_increase(
    f: Estimate | None, baseline: Estimate | None
) -> Estimate | None:
    """Compare an error with the baseline's: e / e0 - 1, with e = 1 - F.

    The report (section 5.3, tables 2 and 3) prints no formula. This one gives each of
    its percentages from F1 scores of two decimals. None if the baseline has no error.
    """
    if f is None or baseline is None or baseline.mean == 1:
        return None
    ratio = divide(*(replace(each, mean=1 - each.mean) for each in (f, baseline)))
    return replace(ratio, mean=ratio.mean - 1)


def divide(dividend: Estimate, divisor: Estimate) -> Estimate:
    """Divide means over unpaired seeds; the deviation is a quotient's, to 1st order."""
    ratio = dividend.mean / divisor.mean
    return _combine(dividend, divisor, ratio, factor=ratio, unit=divisor.mean)


def subtract(minuend: Estimate | None, subtrahend: Estimate | None) -> Estimate | None:
    """Subtract one mean over seeds from another one, of seeds that have no pairs."""
    if minuend is None or subtrahend is None:
        return None
    return _combine(minuend, subtrahend, minuend.mean - subtrahend.mean)


def _combine(
    first: Estimate, second: Estimate, mean: float, factor: float = 1, unit: float = 1
) -> Estimate:
    """Make a figure of two, with the deviation and the seeds that both have."""
    deviation, n = None, None
    if first.deviation is not None and second.deviation is not None:
        deviation = math.hypot(first.deviation, factor * second.deviation) / unit
    if first.n is not None and second.n is not None:
        n = min(first.n, second.n)
    return Estimate(mean=mean, deviation=deviation, n=n)
