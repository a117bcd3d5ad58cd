"""Figures 3 to 7 of the report, drawn with matplotlib (extra: report)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

from lab.papers.bars import HASH_BARS, LOOKUP_BARS
from spacy_hashembeds.charts import import_figure, remove_frame, render_png

from ..trials.results import Estimate
from .tables import Cell, Table

_WITHOUT, _WITH = "Without pretrained vectors", "With pretrained vectors"


class Series(NamedTuple):
    """Bars of one style, one for each dataset.

    name (str): What they are, for the legend.
    number (int): The table that has them.
    column (str): The key of the table's column.
    style (Mapping[str, str]): Their colour and hatching.
    """

    name: str
    number: int
    column: str
    style: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What a figure shows.

    number (int): The report's number of it.
    caption (str): What it shows, in a sentence.
    score (str): What its vertical axis is.
    panels (Mapping[str, Sequence[Series]]): The series of each panel, from above.
    """

    number: int
    caption: str
    score: str
    panels: Mapping[str, Sequence[Series]]


def _strategies(default: int, adjusted: int | None) -> list[Series]:
    series = [
        Series("MultiEmbed", default, "me_f", LOOKUP_BARS[0]),
        Series("MultiHashEmbed", default, "mhe_f", HASH_BARS[0]),
    ]
    if adjusted is not None:
        name = "MultiHashEmbed, adjusted rows"
        series.append(Series(name, adjusted, "mhe_f", HASH_BARS[2]))
    return series


def _number_of_hashes(number: int) -> list[Series]:
    names = {1: "1 hash", 2: "2 hashes", 3: "3 hashes", 4: "4 hashes"}
    # four are the default
    return [
        Series(name, number, f"hashes{k}", HASH_BARS[4 - k])
        for k, name in names.items()
    ]


def _min_freq(number: int) -> list[Series]:
    lookups = [
        Series(f"MultiEmbed, min_freq {k}", number, f"me_{k}", style)
        for k, style in zip((10, 5, 1), LOOKUP_BARS, strict=True)
    ]
    return [Series("MultiHashEmbed", number, "mhe", HASH_BARS[0]), *lookups]


FIGURES = (
    Figure(
        number=3,
        caption="MultiHashEmbed and MultiEmbed, evaluated on the test set.",
        score="F1 (%), test",
        panels={_WITHOUT: _strategies(9, 10), _WITH: _strategies(7, 8)},
    ),
    Figure(
        number=4,
        caption="MultiHashEmbed and MultiEmbed, evaluated on unseen test entities.",
        score="F1 (%), unseen test entities",
        panels={_WITHOUT: _strategies(11, None), _WITH: _strategies(12, None)},
    ),
    Figure(
        number=5,
        caption=(
            "MultiHashEmbed with different numbers of hash functions, evaluated on "
            "the development set."
        ),
        score="F1 (%), development",
        panels={_WITHOUT: _number_of_hashes(13), _WITH: _number_of_hashes(14)},
    ),
    Figure(
        number=6,
        caption=(
            "MultiEmbed with different minimum frequencies, and MultiHashEmbed, "
            "evaluated on the development set."
        ),
        score="F1 (%), development",
        panels={_WITHOUT: _min_freq(15), _WITH: _min_freq(16)},
    ),
    Figure(
        number=7,
        caption=(
            "MultiHashEmbed with vectors distributed by spaCy and with fastText "
            "vectors, evaluated on the development set."
        ),
        score="F1 (%), development",
        panels={
            "": [
                Series("spaCy (large)", 17, "spacy_f", HASH_BARS[0]),
                Series("fastText", 17, "fasttext_f", HASH_BARS[2]),
            ]
        },
    ),
)


def draw_figures(tables: Mapping[int, Table]) -> dict[int, bytes]:
    """Draw the figures for which there are trials.

    Bars are our means, with deviations where there is more than one seed; diamonds are
    the report's.

    tables (Mapping[int, Table]): From `make_trial_tables`.
    RAISES (ImportError): If matplotlib is not installed.
    RETURNS (dict[int, bytes]): PNG files by the report's number of the figure.
    """
    return {
        figure.number: _draw(figure, tables)
        for figure in FIGURES
        if any(_has_trials(series, tables) for series in figure.panels.values())
    }


def _has_trials(series: Sequence[Series], tables: Mapping[int, Table]) -> bool:
    return any(
        row.cells[bars.column].ours
        for bars in series
        for row in tables[bars.number].rows
    )


def _draw(figure: Figure, tables: Mapping[int, Table]) -> bytes:
    canvas = import_figure()(
        figsize=(9, 0.7 + 2.6 * len(figure.panels)), layout="constrained"
    )
    rows = canvas.subplots(len(figure.panels), 1, sharex=True, squeeze=False)
    panels = [axes for (axes,) in rows]
    for axes, (title, series) in zip(panels, figure.panels.items(), strict=True):
        _draw_panel(axes, series, tables)
        if not _has_trials(series, tables):
            title += " (no trials yet: only the report's figures)"
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylabel(figure.score)
    _add_legend(canvas, panels[0])
    return render_png(canvas)


def _draw_panel(
    axes: Any, series: Sequence[Series], tables: Mapping[int, Table]
) -> None:
    width = 0.8 / len(series)
    for i, (name, number, column, style) in enumerate(series):
        rows = tables[number].rows
        positions = [x + (i - (len(series) - 1) / 2) * width for x in range(len(rows))]
        cells = [row.cells[column] for row in rows]
        _draw_series(axes, name, positions, cells, width, style)
    # all tables of a panel have the same datasets
    axes.set_xticks(range(len(rows)), [row.stub[0] for row in rows])
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.set_ylim(0, 1)
    ticks = [0, 20, 40, 60, 80, 100]
    axes.set_yticks([tick / 100 for tick in ticks], ticks)
    axes.grid(axis="y", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    remove_frame(axes, ticks="x")


def _draw_series(
    axes: Any,
    name: str,
    positions: Sequence[float],
    cells: Sequence[Cell],
    width: float,
    style: Mapping[str, str],
) -> None:
    """Draw a bar for each cell, with the report's figure beside its middle."""
    # no height, no bar, but an entry in the legend
    heights = [nan if cell.ours is None else cell.ours.mean for cell in cells]
    axes.bar(
        positions,
        heights,
        0.94 * width,
        label=name,
        edgecolor="#333333",
        linewidth=0.6,
        **style,
    )
    ours, printed = [], []
    for x, cell in zip(positions, cells, strict=True):
        if cell.ours is not None:
            ours.append((x - 0.2 * width, cell.ours))
        if cell.printed is not None:
            printed.append((x + 0.2 * width, cell.printed))
    _draw_points(axes, ours, markersize=0)
    _draw_points(axes, printed, fmt="D", markersize=4, markerfacecolor="#ffffff")


def _draw_points(
    axes: Any, points: Sequence[tuple[float, Estimate]], **style: Any
) -> None:
    """Draw means with their deviations, on a white ground to be seen on dark bars."""
    xs = [x for x, _ in points]
    means = [value.mean for _, value in points]
    deviations = [
        nan if value.deviation is None else value.deviation for _, value in points
    ]
    style = {"linestyle": "", **style}
    for color, lw, zorder in (("#ffffff", 3.0, 3), ("#000000", 0.9, 4)):
        axes.errorbar(
            xs, means, deviations, color=color, elinewidth=lw, zorder=zorder, **style
        )


def _add_legend(canvas: Any, axes: Any) -> None:
    style = {"fmt": "D", "color": "#000000", "markersize": 4, "elinewidth": 0.9}
    axes.errorbar([], [], [], **style, markerfacecolor="#ffffff", label="the report")
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
        fontsize=8.5,
        columnspacing=1.4,
    )
