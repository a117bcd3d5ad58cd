"""Figures as pages show them, drawn with matplotlib (extra: report)."""

from typing import Any

from .extras import import_extra


def import_figure() -> Any:
    """Import matplotlib's class of figures, which need no screen."""
    extra = "'spacy-hashembeds[report]'"
    return import_extra("matplotlib.figure", "Charts need matplotlib", extra).Figure


def make_panels(
    n: int, most_columns: int, width: float, height: float, above: float = 0.0
) -> tuple[Any, list[Any]]:
    """Make a figure with panels of a size, in inches, row by row."""
    n_columns = min(n, most_columns)
    n_rows = -(-n // n_columns)
    size = (width * n_columns, above + height * n_rows)
    figure = import_figure()(figsize=size, layout="constrained")
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axes in grid[n:]:
        axes.remove()
    return figure, grid[:n]


def remove_frame(axes: Any, *, ticks: str = "y") -> None:
    """Leave only the lines that say something, and no ticks on the axis of names."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis=ticks, length=0)
