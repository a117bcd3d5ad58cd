"""Figure 2 of "Why Attention?", drawn from what `python -m lab attention` writes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..attention.attention import shorten
from ..figures import BARS, make_panels, render_png
from .listings import Attention, read_listings
from .paper import Paper
from .tables import Figure

#: How wide a figure may be, how much room labels take, and a token if there is any, in
#: inches.
_WIDTH, _LABELS, _TOKEN = 13.0, 1.2, 0.19
_MAX_LABEL = 16

#: The most tokens of a text whose values are written into the fields.
_MAX_VALUES = 40


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
                f"What each head of {paper.name_trials(key.trials)} attends to, "
                f"trained on {paper.name_dataset(key.dataset)} (the component "
                f"{heads.name})."
            ),
            draw=partial(_draw, tokens, np.asarray(heads.heads)),
        )
        for number, (key, tokens, heads) in enumerate(found, start=1)
    ]


def _draw(tokens: Sequence[str], heads: NDArray[np.float64]) -> bytes:
    from matplotlib.colors import LinearSegmentedColormap

    n_heads, n_tokens, _ = heads.shape
    size = min(_WIDTH, _LABELS + _TOKEN * n_tokens)
    figure, panels = make_panels(n_heads, int(_WIDTH // size), size, size + 0.3)
    labels = [shorten(token, _MAX_LABEL) for token in tokens]
    # in points, of which an inch has 72
    font_size = min(8.0, 50 * (size - _LABELS) / n_tokens)
    # white for nothing, and the darker the more
    colors = LinearSegmentedColormap.from_list("", ["#ffffff", BARS[0]["color"]])
    for number, (axes, weights) in enumerate(zip(panels, heads, strict=True), start=1):
        image = axes.imshow(100 * weights, cmap=colors, vmin=0, vmax=100)
        # of more tokens they could not be read
        shown = np.ndenumerate(weights) if n_tokens <= _MAX_VALUES else ()
        for (row, column), weight in shown:
            color = "white" if weight > 0.5 else "black"
            style = {"ha": "center", "va": "center", "fontsize": 0.6 * font_size}
            axes.text(column, row, f"{100 * weight:.0f}", color=color, **style)
        axes.set_xticks(range(n_tokens), labels, rotation=90)
        axes.set_yticks(range(n_tokens), labels)
        axes.tick_params(labelsize=font_size, length=0)
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)  # dollars are no formula
        axes.set_title(f"Head {number}", fontsize=10)
    figure.colorbar(image, ax=panels, label="percent of what a row's token takes")
    return render_png(figure)
