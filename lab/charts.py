"""What charts have in common, drawn with matplotlib (extra: report)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Styles of bars, told apart in grey too, by lightness and hatching.
BARS: tuple[dict[str, str], ...] = (
    {"color": "#1b3a57"},
    {"color": "#5b8db8"},
    {"color": "#f2b872", "hatch": "//"},
    {"color": "#f4f1ea", "hatch": ".."},
)


def import_figure() -> Any:
    """Get matplotlib's class of figures, which need no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        raise ImportError(
            "Charts need matplotlib: pip install 'spacy-hashembeds[report]'."
        ) from e
    return Figure


def check_chart(path: str | Path) -> None:
    """Check that a chart can be drawn to a file, before the work."""
    suffixes = import_figure()().canvas.get_supported_filetypes()
    suffix = Path(path).suffix.lower()[1:]
    if suffix and suffix not in suffixes:
        raise ValueError(
            f"'chart' should end in .png, or in .svg or .pdf, but is '{path}'."
        )


def make_whiskers(
    values: Sequence[float], quartiles: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """Make the settings of `barh` for lines from quartile to quartile."""
    pairs = list(zip(values, quartiles, strict=True))
    # rounding may put a quartile that equals the value on its other side
    below = [max(0.0, value - lower) for value, (lower, _) in pairs]
    above = [max(0.0, upper - value) for value, (_, upper) in pairs]
    style = {"ecolor": "#111111", "elinewidth": 1, "capsize": 3}
    return {"xerr": [below, above], "error_kw": style}


def remove_frame(axes: Any, *, ticks: str = "y") -> None:
    """Leave only the lines that say something, and no ticks on the axis of names."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis=ticks, length=0)
