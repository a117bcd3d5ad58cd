"""Figure 2 of "Why Attention?", drawn from what `python -m lab attention` writes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_hashembeds.charts import BARS, import_figure

from ..figures import render_png
from .listings import Attention, read_listings
from .paper import Paper, get_trials
from .tables import Figure

#: How wide a figure may be, how much room labels take, and a token if there is any, in
#: inches.
_WIDTH, _LABELS, _TOKEN = 13.0, 1.2, 0.19
_MAX_LABEL = 16


def show_attention(paper: Paper, results: Path) -> list[Figure]:
    """Show heat maps of the attention in our pipelines, a panel for each head."""
    found = [
        (key, attention.tokens, heads)
        for key, attention in read_listings(Attention, results)
        for heads in attention.components
    ]
    return [
        Figure(
            name=f"attention{number}",
            caption=(
                f"What each head of {paper.name_trials(get_trials(key))} attends to, "
                f"trained on {paper.name_dataset(key.dataset)} (the component "
                f"{heads.name})."
            ),
            draw=partial(_draw, tokens, np.asarray(heads.heads)),
        )
        for number, (key, tokens, heads) in enumerate(found, start=1)
    ]


def _draw(tokens: Sequence[str], heads: NDArray[np.float64]) -> bytes:
    n_heads, n_tokens, _ = heads.shape
    size = min(_WIDTH, _LABELS + _TOKEN * n_tokens)
    n_columns = min(n_heads, int(_WIDTH // size))
    n_rows = -(-n_heads // n_columns)
    figure = import_figure()(
        figsize=(size * n_columns, (size + 0.3) * n_rows), layout="constrained"
    )
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    labels = [_shorten(token) for token in tokens]
    # in points, of which an inch has 72
    font_size = min(8.0, 50 * (size - _LABELS) / n_tokens)
    for number, (axes, weights) in enumerate(zip(grid, heads, strict=False), start=1):
        _draw_head(axes, weights, labels, font_size)
        axes.set_title(f"Head {number}", fontsize=10)
    for axes in grid[n_heads:]:
        axes.remove()
    return render_png(figure)


def _draw_head(
    axes: Any, weights: NDArray[np.float64], labels: Sequence[str], font_size: float
) -> None:
    axes.imshow(weights, cmap=_make_colors(), vmin=0, vmax=1, interpolation="nearest")
    places = range(len(labels))
    axes.set_xticks(places, labels, rotation=90)
    axes.set_yticks(places, labels)
    axes.tick_params(labelsize=font_size, length=0)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)  # dollars are no formula


def _make_colors() -> Any:
    """Make a scale that is white for nothing, and the darker the more."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("", ["#ffffff", BARS[0]["color"]])


def _shorten(token: str) -> str:
    text = token if len(token) <= _MAX_LABEL else f"{token[: _MAX_LABEL - 1]}…"
    return text if text.isprintable() and text.strip() else repr(text)
