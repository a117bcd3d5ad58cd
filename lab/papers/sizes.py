"""Accuracy against the parameters of the embedding: a figure that no paper has."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, cycle
from typing import Any, NamedTuple

from ..figures import make_panels, render_png
from ..trials.results import Estimate, Groups, estimate, estimate_score
from .bars import STYLES
from .filling import sort_trials
from .paper import Paper
from .tables import Figure

_WIDTH = 3

#: The ending of variants with about a fifth of the parameters.
_FIFTH = "_fifth"

#: Whatever has no style in the paper's data gets one of these in turn.
_MORE_STYLES = [
    {"color": color, "marker": marker}
    for marker, color in zip("^vPXd<>", cycle(("#777777", "#222222")), strict=False)
]
_DIAMOND = {
    "marker": "D",
    "linestyle": "",
    "markersize": 6,
    "markerfacecolor": "none",
    "markeredgewidth": 1.4,
}


class Point(NamedTuple):
    """A size of an embedding, on average over seeds, and its accuracy from 0 to 1."""

    parameters: float
    accuracy: Estimate


#: For each dataset and embedding, EMBEDDER/VARIANT at its full size, the sizes.
Points = Mapping[str, Mapping[str, Sequence[Point]]]


def make_sizes(paper: Paper, groups: Groups) -> Figure:
    """Show all trials, a panel for each dataset and a series for each embedding."""
    ours = find_points(paper, groups)
    figure = paper.figures["parameters"]
    # for the embeddings whose size the paper says (5.3 and 5.5)
    printed = {
        dataset: {
            name: Point(size, accuracy)
            for name, (column, size) in figure["printed"].items()
            if (accuracy := paper.get_printed("2", dataset, column)) is not None
        }
        for dataset in ours
    }
    draw = partial(_draw, paper, ours, printed) if ours else None
    return Figure(name="parameters", caption=figure["caption"], draw=draw)


def find_points(paper: Paper, groups: Groups) -> Points:
    """Find what to draw: for each dataset and embedding, the sizes in order."""
    panels: dict[str, dict[str, list[Point]]] = defaultdict(dict)
    for key in sort_trials(paper, groups):
        size = estimate(result.embedding_parameters for result in groups[key])
        accuracy = estimate_score(groups[key], "test", "cats_acc")
        # a logarithm has no place for an embedding without parameters
        if accuracy is not None and size is not None and size.mean > 0:
            name = key.trials.removesuffix(_FIFTH)
            points = panels[key.dataset].setdefault(name, [])
            points.append(Point(size.mean, accuracy))
            points.sort(key=lambda point: point.parameters)
    return dict(panels)


def _draw(
    paper: Paper, ours: Points, printed: Mapping[str, Mapping[str, Point]]
) -> bytes:
    styles = _choose_styles(paper, chain(*ours.values()))
    width = 4.0 if len(ours) > 1 else 6.0
    figure, panels = make_panels(len(ours), _WIDTH, width, 3.0, above=0.8)
    for axes, (dataset, series) in zip(panels, ours.items(), strict=True):
        _draw_panel(axes, series, printed[dataset], styles)
        axes.set_title(paper.name_dataset(dataset), fontsize=10, parse_math=False)
    shown = {paper.name_trials(name): styles[name] for name in chain(*ours.values())}
    _add_legend(figure, shown, has_printed=any(printed.values()))
    return render_png(figure)


def _choose_styles(paper: Paper, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Choose colours, as in the figures of the report, and markers of embeddings."""
    styles = {
        name: {"color": STYLES[kind][place]["color"], "marker": marker}
        for name, (kind, place, marker) in paper.figures["parameters"]["styles"].items()
    }
    others = (name for name in dict.fromkeys(names) if name not in styles)
    return styles | dict(zip(others, cycle(_MORE_STYLES), strict=False))


def _draw_panel(
    axes: Any,
    ours: Mapping[str, Sequence[Point]],
    printed: Mapping[str, Point],
    styles: Mapping[str, Mapping[str, str]],
) -> None:
    axes.set_xscale("log")
    for name, points in ours.items():
        axes.errorbar(
            [point.parameters for point in points],
            [100 * point.accuracy.mean for point in points],
            [100 * (point.accuracy.deviation or 0.0) for point in points],
            linewidth=1.2,
            elinewidth=0.9,
            capsize=2,
            markersize=9 if styles[name]["marker"] == "*" else 6,
            **styles[name],
        )
    for name, (parameters, accuracy) in printed.items():
        edge = {"markeredgecolor": styles[name]["color"]}
        axes.plot([parameters], [100 * accuracy.mean], **_DIAMOND, **edge)
    axes.set_xlabel("Parameters of the embedding", fontsize=8)
    axes.set_ylabel("Accuracy (%)", fontsize=8)
    axes.tick_params(labelsize=8)
    sizes = [point.parameters for point in chain(*ours.values(), printed.values())]
    # a single size has a width of its own too
    axes.set_xlim(min(sizes) / 2, 2 * max(sizes))
    axes.margins(y=0.12)
    axes.grid(color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _add_legend(
    figure: Any, styles: Mapping[str, Mapping[str, str]], *, has_printed: bool
) -> None:
    axes = figure.axes[0]
    handles = [axes.plot([], [], **style)[0] for style in styles.values()]
    names = list(styles)
    if has_printed:
        handles += axes.plot([], [], **_DIAMOND, markeredgecolor="#000000")
        names.append("the paper")
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=2 if len(figure.axes) == 1 else _WIDTH,
        frameon=False,
        fontsize=8.5,
    )
