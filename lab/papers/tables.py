"""Tables of our figures and those of a paper, and comparisons of both.

data/NAME.json has the printed figures of a paper, and the sources of our figures.
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
    """Format of one kind of figures."""

    ours: str
    printed: str
    rounding: float = 0  # half of the last printed place of a score; 0 for a count
    factor: int = 1  # 100 for fractions that are shown as percents


#: Kinds of figures: scores printed as percents, their tenths or hundredths, changes of
#: such scores, changes as fractions, and counts.
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

#: The source of a figure: the "dataset", the "trials" (EMBEDDER/VARIANT), and their
#: "score" (SPLIT/NAME) or "size"; or a "count" of the dataset.
Source = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Our figure and the paper's."""

    ours: Estimate | None = None
    printed: Estimate | None = None
    differs: bool = False  # True if they differ by more than chance and rounding
    source: Source = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table."""

    key: str  # in the paper's data
    label: str
    group: str = ""  # the heading of several columns
    kind: str = "score"  # a key of `FORMATS`
    source: Source = field(default_factory=dict)  # common to its figures


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table."""

    stub: tuple[str, ...]  # the first columns, which describe the row
    cells: Mapping[str, Cell] = field(default_factory=dict)  # by keys of columns
    has_ours: bool = True  # True if the row can have our figures

    @property
    def is_filled(self) -> bool:
        """True if the row has one of our figures, or only our stub."""
        ours = [cell.ours for cell in self.cells.values()]
        return self.has_ours and (not ours or any(each is not None for each in ours))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table. Tables of texts have only a stub."""

    number: int | None = None  # in the paper; None for other tables
    title: str
    caption: str
    stub: Sequence[str]  # headings of the first columns, which describe a row
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()


#: Tables by the headings of a page.
Sections = Mapping[str, Sequence[Table]]


#: Keys of a column that are not part of its source.
_SHOWN = ("label", "group", "kind")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: the contents of a file in data/."""

    source: str  # of the printed figures
    about: str  # the format of figures
    title: str
    called: str  # "the paper" or "the report"
    task: str  # "ner" or "textcat"
    intro: Sequence[str]  # Markdown, with fields
    datasets: Mapping[str, str]  # names of datasets, in the paper's order
    trials: Mapping[str, str]  # names of trials, in the order of rows
    grids: Sequence[str] = ()  # whose trials belong to the paper
    # by number or name: caption, notes, columns, printed rows, and so on
    tables: Mapping[str, Mapping[str, Any]]
    models: Mapping[str, str] = field(default_factory=dict)  # rows without our figures
    same: Mapping[str, str] = field(default_factory=dict)  # rows of models, by trials
    seeds: int = 3  # of a printed deviation
    incomparable: str = ""  # why figures are not compared

    def get_printed(self, table: str, row: str, column: str) -> Estimate | None:
        """Return a printed figure, or None if there is none."""
        value = self.get_rows(table).get(row, {}).get(column)
        if isinstance(value, list):
            return Estimate(mean=value[0], population_sd=value[1], n=self.seeds)
        return None if value is None else Estimate(mean=value)

    def get_rows(self, table: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the printed rows of a table, in the paper's order."""
        return self.tables[table].get("rows", {})

    @cached_property
    def columns(self) -> Mapping[str, list[Column]]:
        """The columns of each table, with their sources."""
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
        """Make a table of the paper, with the columns of its data by default."""
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
        """Return the paper's name of a dataset, or else its key."""
        return self.datasets.get(dataset, dataset)

    def name_trials(self, trials: str) -> str:
        """Return the name of EMBEDDER/VARIANT, or else both words."""
        return self.trials.get(trials, trials.replace("/", " "))

    def find_printed(self, source: Source) -> Estimate | None:
        """Return the score of trials from the first table with a row for a dataset."""
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
    """Compare our figure with a printed one.

    Scores differ if |ours - printed| > 2 sqrt(sd_ours^2 + sd_printed^2), with
    deviations over seeds, divided by n. With three seeds each, this is Welch's t > 2.83
    (p = 0.05). The printed deviation is at least half of the last printed place. An
    unknown deviation is replaced by the other one; if both are unknown, scores do not
    differ. Counts differ if they are unequal at the last printed place.
    """
    differs = False
    if ours is not None and printed is not None:
        if rounding := FORMATS[kind].rounding:
            deviations = [ours.population_sd, printed.population_sd]
            known = [each for each in deviations if each is not None]
            if known:
                theirs = max(known[-1], rounding)
                own = theirs if ours.population_sd is None else ours.population_sd
                differs = abs(ours.mean - printed.mean) > 2 * math.hypot(own, theirs)
        else:
            counted, given = Decimal(str(ours.mean)), Decimal(str(printed.mean))
            if kind == "thousands":
                # the paper truncates to tenths
                counted = counted.quantize(Decimal("0.1"), ROUND_FLOOR)
            half = Decimal(5).scaleb(int(given.as_tuple().exponent) - 1)
            differs = abs(counted - given) > half
    return Cell(ours=ours, printed=printed, differs=differs, source=source or {})


def describe_differences(tables: Iterable[Table], name: str) -> str:
    """Describe how many scores and counts differ. Repeated figures count once."""
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
    """Return e / e0 - 1 with e = 1 - F, or None if the baseline has no error.

    The report (section 5.3, tables 2 and 3) has no formula. This one reproduces its
    percentages from F1 scores of two decimals.
    """
    if f is None or baseline is None or baseline.mean == 1:
        return None
    ratio = divide(*(replace(each, mean=1 - each.mean) for each in (f, baseline)))
    return replace(ratio, mean=ratio.mean - 1)


def divide(dividend: Estimate, divisor: Estimate) -> Estimate:
    """Divide means over unpaired seeds, with a deviation to first order."""
    ratio = dividend.mean / divisor.mean
    return _combine(dividend, divisor, ratio, factor=ratio, unit=divisor.mean)


def subtract(minuend: Estimate | None, subtrahend: Estimate | None) -> Estimate | None:
    """Subtract means over unpaired seeds."""
    if minuend is None or subtrahend is None:
        return None
    return _combine(minuend, subtrahend, minuend.mean - subtrahend.mean)


def _combine(
    first: Estimate, second: Estimate, mean: float, factor: float = 1, unit: float = 1
) -> Estimate:
    """Make an estimate of two, with a deviation and seeds if both have them."""
    deviation, n = None, None
    if first.population_sd is not None and second.population_sd is not None:
        deviation = (
            math.hypot(first.population_sd, factor * second.population_sd) / unit
        )
    if first.n is not None and second.n is not None:
        n = min(first.n, second.n)
    return Estimate(mean=mean, population_sd=deviation, n=n)
