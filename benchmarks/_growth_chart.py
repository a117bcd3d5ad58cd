"""The chart of time and memory as a stream grows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._charts import describe_place, draw_timings, new_figure, remove_frame
from ._embedders import OURS, SPACY

_LABELS = {SPACY: "spaCy, 4 hashes", OURS[4]: "ours, 4 hashes"}
_DARK, _LIGHT = "#1f5f99", "#e0913a"
_COLORS = {SPACY: _LIGHT, OURS[4]: _DARK}

#: Ways to meet words, two in each panel. The first is drawn as a wide line, and the
#: second as a thin one upon it: they may lie on each other.
_PANELS = {
    "The layer alone": ("spaCy, ids alone", "ours, ids alone"),
    "spaCy's vocab, which keeps all words": ("no layer, one vocab", "ours, one vocab"),
    "A vocab that forgets": ("ours, memory zones", "ours, new vocab at times"),
}
_MEMORY_KINDS = {"pss_mib": "with its share (PSS)", "uss_mib": "its own (USS)"}
_FILLS = ({"color": "#1b3a57"}, {"color": "#9cc3e6", "hatch": "//"})


def draw_growth(results: Mapping[str, Any], path: Path) -> None:
    """Draw time a word and memory against words seen, and memory of the workers."""
    with new_figure(path, (12, 7.5)) as figure:
        upper, lower = figure.subfigures(2, 1)
        left, right = upper.subplots(1, 2)
        _draw_time(left, results["time"]["points"])
        _draw_sharing(right, results["sharing"])
        panels = lower.subplots(1, len(_PANELS), sharey=True)
        for axes, (title, ways) in zip(panels, _PANELS.items(), strict=True):
            axes.set_title(title, fontsize=10)
            _draw_memory(axes, results["memory"]["rss_mib"], ways)
        panels[0].set_ylabel("resident memory, growth in MiB")
        for axes in (left, right, *panels):
            remove_frame(axes)
        title = "Time and memory of a long stream of words"
        figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


def _draw_time(axes: Any, layers: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for name, points in layers.items():
        style = {"marker": "s" if name == SPACY else "o", "color": _COLORS[name]}
        draw_timings(axes, [(point["words"], point) for point in points], **style)
        _label(axes, points[0]["words"], points[0]["us_per_word"], name)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0, top=1.3 * axes.get_ylim()[1])
    axes.set_xlabel("words seen, up to 10 times as many at each point")
    axes.set_ylabel("microseconds a word")
    axes.set_title("Median since the last point, with quartiles", fontsize=10)


def _label(axes: Any, x: float, y: float, name: str) -> None:
    axes.annotate(
        _LABELS[name],
        (x, y),
        xytext=(0, 8),
        textcoords="offset points",
        color=_COLORS[name],
    )


def _draw_memory(
    axes: Any, curves: Mapping[str, Sequence[Sequence[float]]], ways: Sequence[str]
) -> None:
    styles = (
        {"color": _LIGHT, "lw": 7, "alpha": 0.6, "solid_capstyle": "round"},
        {"color": _DARK, "lw": 1.5, "marker": "o", "ms": 3},
    )
    for way, style in zip(ways, styles, strict=True):
        if points := curves.get(way):
            thousands = [words / 1000 for words, _ in points]
            grown = [mib - points[0][1] for _, mib in points]
            axes.plot(thousands, grown, label=f"{way}: {grown[-1]:+.1f}", **style)
    axes.set_xlabel("distinct words seen, thousands")
    if axes.lines:
        axes.legend(fontsize=9, frameon=False, loc="upper left")


def _draw_sharing(axes: Any, sharing: Mapping[str, Any]) -> None:
    ways = {"no\ntables": sharing["no_tables"], **sharing["ways"]}
    for i, (kind, label) in enumerate(_MEMORY_KINDS.items()):
        xs = [x + (i - 0.5) * 0.4 for x in range(len(ways))]
        heights = [way[kind] or 0.0 for way in ways.values()]
        bars = axes.bar(xs, heights, 0.4, label=label, **_FILLS[i])
        labels = [f"{way[kind]:.0f}" if way["works"] else "" for way in ways.values()]
        axes.bar_label(bars, labels, fontsize=8)
    for x, way in enumerate(ways.values()):
        if not way["works"]:
            axes.text(x, 0, " fails", rotation=90, ha="center", va="bottom")
    axes.set_xticks(range(len(ways)), ways, fontsize=9)
    axes.set_ylabel("MiB a worker")
    title = (
        f"{sharing['workers']} workers with tables of {sharing['tables_mib']:.0f} MiB"
    )
    axes.set_title(title, fontsize=10)
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])
    axes.legend(fontsize=9, frameon=False, loc="upper left")
