"""Figures as pages show them, drawn with matplotlib (extra: report)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from .extras import import_extra

#: Styles of bars, told apart in grey too, by lightness and hatching.
BARS = ({"color": "#1b3a57"}, {"color": "#f2b872", "hatch": "//"})


def import_figure() -> Any:
    """Get matplotlib's class of figures, which need no screen."""
    extra = "'spacy-hashembeds[report]'"
    return import_extra("matplotlib.figure", "Charts need matplotlib", extra).Figure


def check_chart(path: str | Path) -> None:
    """Check that a chart can be drawn to a file, before the work."""
    suffixes = import_figure()().canvas.get_supported_filetypes()
    suffix = Path(path).suffix.lower()[1:]
    if suffix and suffix not in suffixes:
        raise ValueError(
            f"'chart' should end in .png, or in .svg or .pdf, but is '{path}'."
        )


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


def remove_frame(axes: Any, *, ticks: str = "y") -> None:
    """Leave only the lines that say something, and no ticks on the axis of names."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis=ticks, length=0)
