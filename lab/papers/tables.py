"""Tables of figures, ours beside what a paper prints, and how the two are compared."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Decimal
from typing import NamedTuple

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
        cells = self.cells.values()
        return self.has_ours and (
            not cells or any(cell.ours is not None for cell in cells)
        )


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


#: What a page shows under each of its headings: text is Markdown.
Sections = Mapping[str, Sequence[Table | str]]


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
    found: dict[str, dict[object, Cell]] = {"scores": {}, "counts of the corpora": {}}
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                cell = row.cells[column.key]
                if cell.ours is not None and cell.printed is not None:
                    source: object = tuple(sorted(cell.source.items()))
                    place = source or (table.title, row.stub, column.key)
                    is_score = FORMATS[column.kind].rounding
                    what = "scores" if is_score else "counts of the corpora"
                    found[what].setdefault((place, cell.printed.mean), cell)
    parts = [
        f"{sum(cell.differs for cell in cells.values())} of {len(cells)} {what}"
        for what, cells in found.items()
        if cells
    ]
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
    error, base_error = (replace(each, mean=1 - each.mean) for each in (f, baseline))
    ratio = divide(error, base_error)
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
    first: Estimate,
    second: Estimate,
    mean: float,
    *,
    factor: float = 1,
    unit: float = 1,
) -> Estimate:
    """Make a figure of two, with the deviation and the seeds that both have."""
    deviation, n = None, None
    if first.deviation is not None and second.deviation is not None:
        deviation = math.hypot(first.deviation, factor * second.deviation) / unit
    if first.n is not None and second.n is not None:
        n = min(first.n, second.n)
    return Estimate(mean=mean, deviation=deviation, n=n)
