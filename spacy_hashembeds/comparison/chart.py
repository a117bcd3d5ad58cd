"""A chart of trials side by side, drawn with matplotlib (extra: report)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..acceleration.machine import describe_machine
from ..charts import BARS, import_figure, make_whiskers, remove_frame
from ..files import replacing
from .comparison import is_of_categories, name_accuracies

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
