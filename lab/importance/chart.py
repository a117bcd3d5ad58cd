"""A chart of importance weights, drawn with matplotlib (extra: report)."""

from pathlib import Path
from typing import Any

from spacy_hashembeds.files import replacing

from ..figures import BARS, ignoring_missing_glyphs, make_panels, remove_frame
from .summary import name_row, name_table

#: How the bars of either end look.
_STYLES = dict(zip(("largest", "smallest"), BARS, strict=True))

#: How many rows of either end are drawn at most, and how long their names may be.
_MAX_ROWS, _MAX_LABEL = 20, 20
_INCHES_PER_BAR = 0.2


def draw_importance(data: dict[str, Any], path: str | Path) -> None:
    """Draw the first 20 rows of either end, a panel for each table."""
    tables = data["tables"]
    n_bars = max(len(table[key][:_MAX_ROWS]) for table in tables for key in _STYLES)
    height = 1.1 + 2 * _INCHES_PER_BAR * n_bars
    figure, panels = make_panels(len(tables), 2, 5.5, height, above=0.5)
    for axes, table in zip(panels, tables, strict=True):
        _draw_table(axes, table)
    with replacing(path) as temporary, ignoring_missing_glyphs():
        figure.savefig(temporary, format=temporary.suffix[1:] or "png", dpi=150)


def _draw_table(axes: Any, table: dict[str, Any]) -> None:
    # most of the weights may be far from zero, and all nearly equal
    start = table["median_importance"] or 0.0
    labels: list[str] = []
    for key, style in _STYLES.items():
        # the smallest of all stands at the very bottom
        rows = table[key][:_MAX_ROWS][:: 1 if key == "largest" else -1]
        places = range(len(labels), len(labels) + len(rows))
        values = [row["importance"] for row in rows]
        widths = [value - start for value in values]
        bars = axes.barh(places, widths, 0.75, left=start, label=key, **style)
        axes.bar_label(bars, [f"{v:#.4g}" for v in values], padding=3, fontsize=7)
        labels += [name_row(row, _MAX_LABEL) for row in rows]
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # dollars are no formula
    axes.tick_params(axis="x", labelsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.25)  # for the numbers at both ends
    axes.axvline(start, color="#111111", linewidth=0.8)
    axes.set_title(name_table(table), fontsize=10, parse_math=False)
    axes.set_xlabel("Importance (bars begin at the median)", fontsize=8)
    remove_frame(axes)
