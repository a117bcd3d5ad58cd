"""The chart of how fast HashFormers are, and what of their time is hashing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._charts import (
    describe_place,
    draw_speeds,
    make_whiskers,
    new_figure,
    remove_frame,
)
from ._hashformers import BASELINE, FEWER, PAIRS, PASSES

_GREY, _LIGHT, _DARK = "#8a8f98", "#9cc3e6", "#1f5f99"

# As other charts have them: what hashes by MD5 is lighter.
_SPEED_COLORS = [
    *(_GREY for _ in FEWER),
    *(_DARK if hasher == "LSH" else _LIGHT for hasher, _ in PAIRS.values()),
]
_FILLS = ({"color": "#f2b872", "hatch": "//"}, {"color": "#1b3a57"})


def draw_hashformers(results: Mapping[str, Any], path: Path) -> None:
    """Draw words a second of each pair, and below the part of the time it hashes."""
    with new_figure(path, (14, 9)) as figure:
        upper, lower = figure.subfigures(2, 1, height_ratios=(5, 6))
        _draw_timings(upper, results["timings"])
        _draw_hashing(lower, results["hashing"])
        title = f"HashFormers, width {results['width']} (times {BASELINE})"
        figure.suptitle(f"{title}\n{describe_place(results)}", fontsize=11)


def _draw_timings(figure: Any, timings: Mapping[str, Any]) -> None:
    panels = figure.subplots(1, len(timings), sharey=True)
    for axes, (what, timed) in zip(panels, timings.items(), strict=True):
        ratios = timed["times_as_fast_as_fewer"]
        draw_speeds(axes, timed["contenders"], ratios, _SPEED_COLORS)
        axes.set_title(f"{what}, {PASSES[1]}", fontsize=10)
    panels[0].invert_yaxis()


def _draw_hashing(figure: Any, hashing: Mapping[str, Any]) -> None:
    panels = figure.subplots(1, len(hashing), sharey=True)
    for axes, (what, passes) in zip(panels, hashing.items(), strict=True):
        for i, title in enumerate(PASSES):
            _draw_shares(axes, passes[title], i)
        axes.set_title(f"{what}: hashing", fontsize=10)
        axes.set_xlim(0, 115)
        axes.set_xlabel("percent of the time")
        remove_frame(axes)
    panels[0].set_yticks(range(len(PAIRS)), list(PAIRS))
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)


def _draw_shares(axes: Any, pairs: Mapping[str, Any], number: int) -> None:
    shares = [100 * pairs[name]["share"] for name in PAIRS]
    quartiles = [
        [100 * share for share in pairs[name]["share_quartiles"]] for name in PAIRS
    ]
    places = [place + 0.4 * number - 0.2 for place in range(len(PAIRS))]
    style = {"label": PASSES[number], **_FILLS[number]}
    bars = axes.barh(places, shares, 0.38, **style, **make_whiskers(shares, quartiles))
    axes.bar_label(bars, [f"{share:.1f}" for share in shares], padding=4, fontsize=8)
