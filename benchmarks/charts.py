"""Charts of the results, drawn with matplotlib (extra: report)."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

from lab.pages.page import import_figure
from spacy_hashembeds.files import replacing

Json = Mapping[str, Any]

#: The color of the baseline.
BASELINE = "#c8501a"

#: Style of the names of groups, which cover the line of the baseline.
_NAME: Any = {"fontsize": 9, "bbox": {"fc": "white", "ec": "none", "pad": 0.5}}


def draw(results: Json, title: str, place: str, path: Path) -> None:
    """Draw relative speeds of implementations, with a panel for each section.

    Text is readable at a width of 390 pixels.
    """
    sections: Json = results["timings"]
    n_bars = [sum(map(len, groups.values())) for groups in sections.values()]
    n_groups = sum(map(len, sections.values()))
    size = (5.2, 1.8 + 0.2 * sum(n_bars) + 0.32 * n_groups + 0.7 * len(sections))
    figure = import_figure()(figsize=size, layout="constrained")
    ratios = {"height_ratios": [3 + n for n in n_bars]}
    panels = figure.subplots(len(sections), 1, squeeze=False, gridspec_kw=ratios)[:, 0]
    for axes, (section, groups) in zip(panels, sections.items(), strict=True):
        draw_panel(axes, groups)
        axes.set_title(_strip_ticks(section), fontsize=11, loc="left")
    panels[-1].set_xlabel("times as fast (lines: quartiles)")
    both = (axes.get_legend_handles_labels() for axes in panels)
    named = {label: handle for of in both for handle, label in zip(*of, strict=True)}
    legend = figure.legend(
        [*named.values()],
        [*named],
        title=f"{_strip_ticks(title)}\n{fill(place, 60)}",
        loc="outside upper left",
        ncols=2 + (len(named) < 6),
        frameon=False,
        fontsize=9,
        title_fontsize=11,
    )
    legend.set_alignment("left")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def draw_panel(axes: Any, groups: Json) -> None:
    """Draw a group of bars for each task, with its name above."""
    baseline, *names = next(iter(groups.values()))
    colors = import_module("matplotlib").colormaps["cividis"]
    height = 0.7 / len(names)
    for i, name in enumerate(names):
        shift = height * (i - (len(names) - 1) / 2)
        places = [place + shift for place in range(len(groups))]
        ratios, below, above = zip(
            *(compare(timed[baseline], timed[name]) for timed in groups.values()),
            strict=True,
        )
        bars = axes.barh(
            places,
            ratios,
            height,
            # colors differ in lightness, for grayscale
            color=colors(0.15 + 0.8 * i / len(names)),
            label=_strip_ticks(name),
            xerr=(below, above),
            error_kw={"ecolor": "#111111", "elinewidth": 0.8, "capsize": 2},
        )
        axes.bar_label(bars, fmt="{:.2f}", padding=3, fontsize=9)
    for place, name in enumerate(groups):
        axes.text(0, place - 0.38, f" {_strip_ticks(name)}", va="bottom", **_NAME)
    axes.set_yticks([])
    axes.axvline(1, color=BASELINE, lw=1.5, zorder=0, label=_strip_ticks(baseline))
    axes.margins(x=0.12)
    axes.set_ylim(len(groups) - 0.5, -0.75)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _strip_ticks(name: str) -> str:
    return name.replace("`", "")


def compare(base: Json, timing: Json) -> tuple[float, float, float]:
    """Return a relative speed, and the distances of its quartiles."""
    us, ratio = base["us_per_word"], base["us_per_word"] / timing["us_per_word"]
    upper, lower = (us / quartile for quartile in timing["us_per_word_quartiles"])
    # rounding errors could make a distance negative
    return ratio, max(0.0, ratio - lower), max(0.0, upper - ratio)
