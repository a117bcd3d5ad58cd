"""Figures 3 to 7 of the report, drawn with matplotlib (extra: report)."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import nan
from typing import Any, NamedTuple

from ..figures import import_figure, remove_frame, render_png
from ..trials.results import Estimate
from .tables import Cell, Figure, Table

#: One colour for one embedder: its bars are told apart by lightness. Hash embedding is
#: blue and plain, lookup embedding is orange and hatched. The defaults come first.
_STYLES: dict[str, list[dict[str, str]]] = {
    "hash": [{"color": c} for c in ("#1b3a57", "#5b8db8", "#a3c4de", "#e3eef7")],
    "lookup": [{"color": c, "hatch": "//"} for c in ("#c8701a", "#f2b872", "#fbe6cc")],
}


class _Series(NamedTuple):
    """Bars of one style, one for each dataset: a column of a table."""

    name: str
    style: Mapping[str, str]
    cells: Mapping[str, Cell]  # by the names of datasets


def make_bars(
    figures: Mapping[str, Mapping[str, Any]], tables: Mapping[str, Table]
) -> list[Figure]:
    """Make all figures, drawn where there are trials; diamonds are the report's.

    figures: By number, the "caption" of each, its "score" and the series of its
        "panels": name, table, column, and style.
    """
    drawn = []
    for number, layout in figures.items():
        panels = {
            title: [
                _Series(
                    name,
                    _STYLES[embedder][place],
                    {row.stub[0]: row.cells[column] for row in tables[table].rows},
                )
                for name, table, column, embedder, place in panel
            ]
            for title, panel in layout["panels"].items()
        }
        draw = None
        if any(map(_has_trials, panels.values())):
            draw = partial(_draw, panels, layout["score"])
        caption = f"Figure {number}. {layout['caption']}"
        drawn.append(Figure(name=f"figure{number}", caption=caption, draw=draw))
    return drawn


def _has_trials(panel: Sequence[_Series]) -> bool:
    return any(cell.ours for series in panel for cell in series.cells.values())


def _draw(panels: Mapping[str, Sequence[_Series]], score: str) -> bytes:
    canvas = import_figure()(figsize=(9, 0.7 + 2.6 * len(panels)), layout="constrained")
    rows = canvas.subplots(len(panels), 1, sharex=True, squeeze=False)
    for (axes,), (title, panel) in zip(rows, panels.items(), strict=True):
        _draw_panel(axes, panel)
        if not _has_trials(panel):
            title += " (no trials yet: only the report's figures)"
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylabel(score)
    _add_legend(canvas, rows[0][0])
    return render_png(canvas)


def _draw_panel(axes: Any, panel: Sequence[_Series]) -> None:
    width = 0.8 / len(panel)
    for i, series in enumerate(panel):
        shift = (i - (len(panel) - 1) / 2) * width
        _draw_series(axes, series, shift, width)
    # all tables of a panel have the same datasets
    names = list(panel[0].cells)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(0, 1)
    ticks = [0, 20, 40, 60, 80, 100]
    axes.set_yticks([tick / 100 for tick in ticks], ticks)
    axes.grid(axis="y", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    remove_frame(axes, ticks="x")


def _draw_series(axes: Any, series: _Series, shift: float, width: float) -> None:
    """Draw a bar for each cell, with the report's figure beside its middle."""
    cells = dict(enumerate(series.cells.values()))
    axes.bar(
        [x + shift for x in cells],
        # no height, no bar, but an entry in the legend
        [nan if cell.ours is None else cell.ours.mean for cell in cells.values()],
        0.94 * width,
        label=series.name,
        edgecolor="#333333",
        linewidth=0.6,
        **series.style,
    )
    left, right = shift - 0.2 * width, shift + 0.2 * width
    ours = {x + left: cell.ours for x, cell in cells.items() if cell.ours}
    printed = {x + right: cell.printed for x, cell in cells.items() if cell.printed}
    _draw_points(axes, ours, markersize=0)
    _draw_points(axes, printed, fmt="D", markersize=4, markerfacecolor="#ffffff")


def _draw_points(axes: Any, points: Mapping[float, Estimate], **style: Any) -> None:
    """Draw means with their deviations, on a white ground to be seen on dark bars."""
    means = [value.mean for value in points.values()]
    deviations = [
        nan if value.deviation is None else value.deviation for value in points.values()
    ]
    style = {"linestyle": "", **style}
    for color, lw, zorder in (("#ffffff", 3.0, 3), ("#000000", 0.9, 4)):
        shown = {"color": color, "elinewidth": lw, "zorder": zorder}
        axes.errorbar(list(points), means, deviations, **shown, **style)


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
