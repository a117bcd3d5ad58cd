"""Figures as pages show them, drawn with matplotlib (extra: report)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from lab.charts import import_figure


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


def render_png(figure: Any) -> bytes:
    """Render a figure for a page, as a PNG file."""
    file = BytesIO()
    with ignoring_missing_glyphs():
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


@contextmanager
def ignoring_missing_glyphs() -> Iterator[None]:
    """Let a box stand for what the font lacks: emoji, for one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
