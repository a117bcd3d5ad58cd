"""Charts of the benchmarks' results, drawn with matplotlib (extra: report)."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from lab.figures import import_figure, remove_frame
from spacy_hashembeds.files import replacing

Json = Mapping[str, Any]


def draw(results: Json, title: str, place: str, path: Path) -> None:
    """Draw how many times as fast as the first contender of each group all others are,
    with lines from quartile to quartile, a panel for each section.

    place (str): What was measured on.
    RAISES (ImportError): If matplotlib is not installed.
    """
    sections: Json = results["timings"]
    n_bars = max(sum(map(len, groups.values())) for groups in sections.values())
    size = (2 + 5 * len(sections), 2 + 0.17 * n_bars)
    figure = import_figure()(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(sections), squeeze=False)[0]
    for axes, (section, groups) in zip(panels, sections.items(), strict=True):
        draw_panel(axes, groups)
        axes.set_title(section.replace("`", ""), fontsize=10)
    figure.suptitle(f"{title}\n{place}", fontsize=11)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def draw_panel(axes: Any, groups: Json) -> None:
    """Draw a group of bars for each thing that was timed."""
    baseline, *names = next(iter(groups.values()))
    colors = import_module("matplotlib").colormaps["cividis"]
    height = 0.85 / len(names)
    for i, name in enumerate(names):
        places = [
            place + height * (i - (len(names) - 1) / 2) for place in range(len(groups))
        ]
        ratios, below, above = zip(
            *(compare(timed[baseline], timed[name]) for timed in groups.values()),
            strict=True,
        )
        bars = axes.barh(
            places,
            ratios,
            height,
            # told apart in grey too, by lightness
            color=colors(0.15 + 0.8 * i / len(names)),
            label=name.replace("`", ""),
            xerr=(below, above),
            error_kw={"ecolor": "#111111", "elinewidth": 0.8, "capsize": 2},
        )
        axes.bar_label(bars, fmt="{:.2f}", padding=3, fontsize=7)
    axes.set_yticks(range(len(groups)), [what.replace("`", "") for what in groups])
    axes.axvline(1, color="#111111", lw=0.8, ls="--")
    axes.margins(x=0.12)
    axes.invert_yaxis()
    axes.set_xlabel(f"times as fast as {baseline.replace('`', '')} (lines: quartiles)")
    place: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": 5}
    axes.legend(fontsize=8, frameon=False, **place)
    remove_frame(axes)


def compare(base: Json, timing: Json) -> tuple[float, float, float]:
    """Say how many times as fast a contender is, and how far off its quartiles are."""
    us, ratio = base["us_per_word"], base["us_per_word"] / timing["us_per_word"]
    upper, lower = (us / quartile for quartile in timing["us_per_word_quartiles"])
    # rounding may put a quartile that equals the median on its other side
    return ratio, max(0.0, ratio - lower), max(0.0, upper - ratio)
