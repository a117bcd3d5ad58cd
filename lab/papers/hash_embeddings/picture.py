"""Accuracy against the parameters of the embedding, drawn with matplotlib.

In place of a figure of the paper's, which has none of results: its only one shows how a
hash vector is made.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from lab.papers.bars import HASH_BARS, LOOKUP_BARS
from spacy_hashembeds.charts import import_figure, render_png

from ...trials.results import Estimate, Groups, estimate, estimate_score
from ..printed import get_printed
from .layouts import (
    DATASETS,
    ENSEMBLE,
    HASH,
    HASH_DICTIONARY,
    HASH_LINEAR,
    PAPER,
    STANDARD,
    STANDARD_LINEAR,
    TRICK,
    Embedding,
    name_embedding,
    split_variant,
)
from .tables import sort_trials

CAPTION = (
    "Accuracy on the test set against the number of trained parameters in the "
    "embedding, of all trials that have recorded any. Lines join the sizes of one "
    "embedding; hollow diamonds are the paper's, where it says how many parameters "
    "there were."
)

_WIDTH = 3

# As in the figures of the report, hash embeddings are blue; all others of the paper are
# orange. Squares have a dictionary, and what is dark has dense layers. Whatever has no
# style here gets one of the rest in turn.
_HASHED, _OTHER = ([bars["color"] for bars in b] for b in (HASH_BARS, LOOKUP_BARS))
_STYLES = {
    HASH: {"color": _HASHED[1], "marker": "o"},
    HASH_LINEAR: {"color": _HASHED[1], "marker": "s"},
    HASH_DICTIONARY: {"color": _HASHED[0], "marker": "s"},
    ENSEMBLE: {"color": _HASHED[0], "marker": "*"},
    TRICK: {"color": _OTHER[1], "marker": "o"},
    STANDARD_LINEAR: {"color": _OTHER[1], "marker": "s"},
    STANDARD: {"color": _OTHER[0], "marker": "s"},
}
_MORE_STYLES = [
    {"color": color, "marker": marker}
    for marker, color in zip("^vPXd<>", cycle(("#777777", "#222222")), strict=False)
]

#: How many parameters embeddings have in the paper (5.3 and 5.5). It does not say which
#: sizes it chose for those with a dictionary.
_PRINTED_SIZES = {
    HASH: ("hash", 40e6),
    TRICK: ("trick", 200e6),
    ENSEMBLE: ("ensemble", 150e6),
}


class Point(NamedTuple):
    """A size of an embedding, and how good it is.

    parameters (float): How many, on average over seeds.
    accuracy (Estimate): From 0 to 1.
    """

    parameters: float
    accuracy: Estimate


Series = Mapping[Embedding, Sequence[Point]]


def draw_sizes(groups: Groups) -> bytes | None:
    """Draw all trials, a panel for each dataset and a series for each embedding.

    groups (Groups): The trials of text classifiers.
    RAISES (ImportError): If matplotlib is not installed.
    RETURNS (bytes, optional): A PNG file. None if there are no trials to draw.
    """
    panels = find_points(groups)
    if not panels:
        return None
    embeddings = {embedding: None for series in panels.values() for embedding in series}
    styles = _choose_styles(list(embeddings))
    n_columns = min(_WIDTH, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = import_figure()(
        figsize=(max(6.0, 4 * n_columns), 0.8 + 3 * n_rows), layout="constrained"
    )
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axes, (dataset, series) in zip(grid, panels.items(), strict=False):
        _draw_panel(axes, dataset, series, styles)
    for axes in grid[len(panels) :]:
        axes.remove()
    has_printed = any(get_printed(2, dataset, "hash", PAPER) for dataset in panels)
    _add_legend(figure, styles, has_printed=has_printed)
    return render_png(figure)


def find_points(groups: Groups) -> dict[str, dict[Embedding, list[Point]]]:
    """Find what there is to draw: for each dataset and embedding, the sizes in order.

    groups (Groups): The trials of text classifiers.
    """
    panels: dict[str, dict[Embedding, list[Point]]] = defaultdict(dict)
    for key in sort_trials(groups):
        results = groups[key]
        size = estimate(result.embedding_parameters for result in results)
        accuracy = estimate_score(results, "test", "cats_acc")
        # a logarithm has no place for an embedding without parameters
        if accuracy is None or size is None or size.mean == 0:
            continue
        embedding, _ = split_variant(key.embedder, key.variant)
        points = panels[key.dataset].setdefault(embedding, [])
        points.append(Point(size.mean, accuracy))
        points.sort(key=lambda point: point.parameters)
    return dict(panels)


def _choose_styles(embeddings: Sequence[Embedding]) -> dict[Embedding, dict[str, str]]:
    others = [embedding for embedding in embeddings if embedding not in _STYLES]
    more = dict(zip(others, cycle(_MORE_STYLES), strict=False))
    return {embedding: (_STYLES | more)[embedding] for embedding in embeddings}


def _draw_panel(
    axes: Any,
    dataset: str,
    series: Series,
    styles: Mapping[Embedding, Mapping[str, str]],
) -> None:
    axes.set_xscale("log")
    sizes = [point.parameters for points in series.values() for point in points]
    for embedding, points in series.items():
        axes.errorbar(
            [point.parameters for point in points],
            [100 * point.accuracy.mean for point in points],
            [100 * (point.accuracy.deviation or 0.0) for point in points],
            linewidth=1.2,
            elinewidth=0.9,
            capsize=2,
            markersize=9 if styles[embedding]["marker"] == "*" else 6,
            **styles[embedding],
        )
    for embedding, (column, parameters) in _PRINTED_SIZES.items():
        printed = get_printed(2, dataset, column, PAPER)
        if printed is not None:
            sizes.append(parameters)
            color = _STYLES[embedding]["color"]
            axes.plot([parameters], [100 * printed.mean], **_make_diamond(color))
    axes.set_title(DATASETS.get(dataset, dataset), fontsize=10, parse_math=False)
    axes.set_xlabel("Parameters of the embedding", fontsize=8)
    axes.set_ylabel("Accuracy (%)", fontsize=8)
    axes.tick_params(labelsize=8)
    # a single size has a width of its own too
    axes.set_xlim(min(sizes) / 2, 2 * max(sizes))
    axes.margins(y=0.12)
    axes.grid(color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _make_diamond(color: str) -> dict[str, Any]:
    return {
        "marker": "D",
        "linestyle": "",
        "markersize": 6,
        "markerfacecolor": "none",
        "markeredgecolor": color,
        "markeredgewidth": 1.4,
    }


def _add_legend(
    figure: Any, styles: Mapping[Embedding, Mapping[str, str]], *, has_printed: bool
) -> None:
    axes = figure.axes[0]
    handles = [axes.plot([], [], **style)[0] for style in styles.values()]
    names = list(map(name_embedding, styles))
    if has_printed:
        handles += axes.plot([], [], **_make_diamond("#000000"))
        names.append("the paper")
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=2 if len(figure.axes) == 1 else _WIDTH,
        frameon=False,
        fontsize=8.5,
    )
