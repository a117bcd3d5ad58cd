"""A chart of trials side by side, drawn with matplotlib (extra: report)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..acceleration.machine import describe_machine
from ..charts import BARS, import_figure, make_whiskers, remove_frame
from ..evaluation.scorer import KINDS
from ..files import replacing
from .comparison import is_of_categories, name_accuracies

#: For each style of bars what they are, and the score of each row, if it has one.
_Scores = Mapping[str, Sequence[float | None]]


def draw_comparison(comparison: Mapping[str, Any], path: str | Path) -> None:
    """Draw the scores, size and speed of trials, as `compare_trials` returns them."""
    rows = comparison["rows"]
    size = (10, 1.9 + 0.75 * len(rows))
    figure = import_figure()(figsize=size, layout="constrained")
    scores, sizes, speeds = figure.subplots(1, 3, sharey=True, width_ratios=(4, 2, 2))
    _draw_scores(scores, *_list_scores(comparison))
    millions = [row["embedding_parameters"] / 1e6 for row in rows]
    _draw_bars(sizes, millions, "Embedding parameters\n(million)", "{:.2f}")
    thousands = [row["words_per_second"] / 1000 for row in rows]
    quartiles = [
        [speed / 1000 for speed in row["words_per_second_quartiles"]] for row in rows
    ]
    label = "Words per second\n(thousand; lines: quartiles)"
    _draw_bars(
        speeds, thousands, label, "{:.1f}", **make_whiskers(thousands, quartiles)
    )
    scores.set_yticks(range(len(rows)), [row["name"] for row in rows])
    scores.invert_yaxis()
    handles, labels = scores.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False)
    machine = describe_machine(comparison["machine"])
    disturbed = ": disturbed" if comparison["disturbances"] else ""
    title = f"Embedders on {comparison['dataset']}\n{machine}{disturbed}"
    figure.suptitle(title, fontsize=11)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=temporary.suffix[1:] or "png", dpi=150)


def _list_scores(comparison: Mapping[str, Any]) -> tuple[str, _Scores]:
    rows = comparison["rows"]
    if is_of_categories(comparison):
        names = {"accuracy": name_accuracies(comparison), "macro_f": "macro F1"}
        return f"Percent\n(of {rows[0]['documents']:,} documents)", {
            name: [row[key] for row in rows] for key, name in names.items()
        }
    # spaCy scores wrong predictions with 0 even where there is nothing to find
    return "F1 (percent)\nby kind of entity (their number)", {
        f"{kind} ({rows[0][kind]['support']})": [
            row[kind]["f"] if row[kind]["support"] else None for row in rows
        ]
        for kind in KINDS
    }


def _draw_scores(axes: Any, label: str, series: _Scores) -> None:
    height = 0.8 / len(series)
    for i, ((name, scores), style) in enumerate(
        zip(series.items(), BARS, strict=False)
    ):
        middle = (len(series) - 1) / 2
        positions = [y + (i - middle) * height for y in range(len(scores))]
        values = [100 * (score or 0.0) for score in scores]
        labels = ["none" if score is None else f"{100 * score:.1f}" for score in scores]
        bars = axes.barh(positions, values, height, label=name, **style)
        axes.bar_label(bars, labels, padding=3, fontsize=8)
    axes.set_xlim(0, 112)
    axes.set_xlabel(label)
    remove_frame(axes)


def _draw_bars(
    axes: Any, values: Sequence[float], label: str, fmt: str, **settings: Any
) -> None:
    bars = axes.barh(range(len(values)), values, 0.5, color="#8a8f98", **settings)
    axes.bar_label(bars, [fmt.format(v) for v in values], padding=3, fontsize=8)
    axes.set_xlim(0, 1.3 * max(values))
    axes.set_xlabel(label)
    remove_frame(axes)
