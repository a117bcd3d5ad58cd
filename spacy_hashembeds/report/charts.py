"""Charts of results, drawn with matplotlib (extra: report)."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from ..experiments.comparison import is_of_categories, name_accuracies
from ..experiments.machine import describe_machine
from ..files import replacing

#: Styles of bars, told apart in grey too, by lightness and hatching.
BARS: tuple[dict[str, str], ...] = (
    {"color": "#1b3a57"},
    {"color": "#5b8db8"},
    {"color": "#f2b872", "hatch": "//"},
    {"color": "#f4f1ea", "hatch": ".."},
)

#: One colour for one embedder: its bars are told apart by lightness. Hash embedding is
#: blue and plain, lookup embedding is orange and hatched. The defaults come first.
HASH_BARS: tuple[dict[str, str], ...] = tuple(
    {"color": color} for color in ("#1b3a57", "#5b8db8", "#a3c4de", "#e3eef7")
)
LOOKUP_BARS: tuple[dict[str, str], ...] = tuple(
    {"color": color, "hatch": "//"} for color in ("#c8701a", "#f2b872", "#fbe6cc")
)

_KINDS = ("all", "seen", "unseen")


class _Scores(NamedTuple):
    """Bars of one style: what they are, how long, and what stands beside each."""

    name: str
    values: Sequence[float]
    labels: Sequence[str]


def draw_comparison(comparison: Mapping[str, Any], path: str | Path) -> None:
    """Draw the scores of trials beside their size and speed.

    These are F1 on all, seen and unseen entities, or, of text classifiers, accuracy
    and macro F1.

    comparison (Mapping[str, Any]): What `compare_trials` returns.
    path (str | Path): The PNG file to write.
    RAISES (ImportError): If matplotlib is not installed.
    """
    rows = comparison["rows"]
    figure_class = import_figure()
    figure = figure_class(figsize=(10, 1.9 + 0.75 * len(rows)), layout="constrained")
    scores, sizes, speeds = figure.subplots(1, 3, sharey=True, width_ratios=(4, 2, 2))
    list_series = _list_categories if is_of_categories(comparison) else _list_entities
    _draw_scores(scores, *list_series(comparison))
    millions = [row["embedding_parameters"] / 1e6 for row in rows]
    _draw_bars(sizes, millions, "Embedding parameters\n(million)", "{:.2f}")
    thousands = [row["words_per_second"] / 1000 for row in rows]
    quartiles = [
        [speed / 1000 for speed in row["words_per_second_quartiles"]] for row in rows
    ]
    label = "Words per second\n(thousand; lines: quartiles)"
    whiskers = make_whiskers(thousands, quartiles)
    _draw_bars(speeds, thousands, label, "{:.1f}", **whiskers)
    scores.set_yticks(range(len(rows)), [row["name"] for row in rows])
    scores.invert_yaxis()
    handles, labels = scores.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False)
    title = f"Embedders on {comparison['dataset']}"
    figure.suptitle(f"{title}\n{_describe(comparison)}", fontsize=11)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=temporary.suffix[1:] or "png", dpi=150)


def _describe(comparison: Mapping[str, Any]) -> str:
    text = describe_machine(comparison["machine"])
    return f"{text}: disturbed" if comparison["disturbances"] else text


def import_figure() -> Any:
    """Get matplotlib's class of figures.

    RAISES (ImportError): If matplotlib is not installed.
    RETURNS (type[Figure]): The class; its figures need no screen.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as e:
        raise ImportError(
            "Charts need matplotlib: pip install 'spacy-hashembeds[report]'."
        ) from e
    return Figure


def render_png(figure: Any) -> bytes:
    """Render a figure for a page.

    figure (Figure): What was drawn.
    RETURNS (bytes): A PNG file.
    """
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


def check_chart(path: str | Path) -> None:
    """Check that a chart can be drawn to a file, before the work.

    RAISES (ImportError): If matplotlib is not installed.
    RAISES (ValueError): If it writes no files with this suffix.
    """
    suffixes = import_figure()().canvas.get_supported_filetypes()
    suffix = Path(path).suffix.lower()[1:]
    if suffix and suffix not in suffixes:
        raise ValueError(
            f"'chart' should end in .png, or in .svg or .pdf, but is '{path}'."
        )


def _list_entities(comparison: Mapping[str, Any]) -> tuple[str, list[_Scores]]:
    rows = comparison["rows"]
    series = []
    for kind in _KINDS:
        scores = [row[kind] for row in rows]
        # spaCy scores wrong predictions with 0 even where there is nothing to find
        found = [score["f"] if score["support"] else None for score in scores]
        values = [100 * (score["f"] or 0.0) for score in scores]
        name = f"{kind} ({scores[0]['support']})"
        series.append(_Scores(name, values, [_format(score) for score in found]))
    return "F1 (percent)\nby kind of entity (their number)", series


def _list_categories(comparison: Mapping[str, Any]) -> tuple[str, list[_Scores]]:
    rows = comparison["rows"]
    names = {"accuracy": name_accuracies(comparison), "macro_f": "macro F1"}
    series = []
    for key, name in names.items():
        scores = [row[key] for row in rows]
        values = [100 * (score or 0.0) for score in scores]
        series.append(_Scores(name, values, [_format(score) for score in scores]))
    return f"Percent\n(of {rows[0]['documents']:,} documents)", series


def _format(score: float | None) -> str:
    return "none" if score is None else f"{100 * score:.1f}"


def _draw_scores(axes: Any, label: str, series: Sequence[_Scores]) -> None:
    height = 0.8 / len(series)
    for i, (scores, style) in enumerate(zip(series, BARS, strict=False)):
        middle = (len(series) - 1) / 2
        positions = [y + (i - middle) * height for y in range(len(scores.values))]
        bars = axes.barh(positions, scores.values, height, label=scores.name, **style)
        axes.bar_label(bars, scores.labels, padding=3, fontsize=8)
    axes.set_xlim(0, 112)
    axes.set_xlabel(label)
    remove_frame(axes)


def _draw_bars(
    axes: Any, values: Sequence[float], label: str, fmt: str, **settings: Any
) -> None:
    settings = {"color": "#8a8f98", **settings}
    bars = axes.barh(range(len(values)), values, 0.5, **settings)
    axes.bar_label(bars, [fmt.format(v) for v in values], padding=3, fontsize=8)
    axes.set_xlim(0, 1.3 * max(values))
    axes.set_xlabel(label)
    remove_frame(axes)


def make_whiskers(
    values: Sequence[float], quartiles: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """Make the settings of horizontal bars with lines from quartile to quartile.

    values (Sequence[float]): How long the bars are.
    quartiles (Sequence[Sequence[float]]): The lower and the upper one of each.
    RETURNS (dict[str, Any]): Arguments of matplotlib's `barh`.
    """
    pairs = list(zip(values, quartiles, strict=True))
    # rounding may put a quartile that equals the value on its other side
    below = [max(0.0, value - lower) for value, (lower, _) in pairs]
    above = [max(0.0, upper - value) for value, (_, upper) in pairs]
    style = {"ecolor": "#111111", "elinewidth": 1, "capsize": 3}
    return {"xerr": [below, above], "error_kw": style}


def remove_frame(axes: Any, *, ticks: str = "y") -> None:
    """Leave only the lines that say something.

    axes (Axes): What to clear.
    ticks (str): The axis of names, which needs no ticks: "x" or "y".
    """
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis=ticks, length=0)
