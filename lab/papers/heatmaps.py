"""Figure 2 of "Why Attention?", drawn from what `python -m lab attention` writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_hashembeds.charts import BARS, import_figure
from spacy_hashembeds.files import quote

from ..attention.attention import MAX_TOKENS
from ..figures import render_png
from ..trials.results import ATTENTION
from .listings import find_listings, get_part, read_listing
from .paper import Paper, get_trials
from .tables import Figure

#: How wide a figure may be, how much room labels take, and a token if there is any, in
#: inches.
_WIDTH, _LABELS, _TOKEN = 13.0, 1.2, 0.19
_MAX_LABEL = 16

#: More panels than anybody could look at.
_MAX_HEADS = 64


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What the heads of a component attend to.

    component (str): Its name.
    tokens (Sequence[str]): The tokens of the text.
    weights (NDArray): From 0 to 1, shape `(n_heads, n_tokens, n_tokens)`: rows are of
        tokens that look, columns of those that are looked at.
    """

    component: str
    tokens: Sequence[str]
    weights: NDArray[np.float64]


def show_attention(paper: Paper, results: Path) -> list[Figure]:
    """Show heat maps of the attention in our pipelines, a panel for each head.

    paper (Paper): The paper.
    results (Path): The folder of results. Weights that belong to trials are beside
        them: `<dataset>/<embedder>/<variant>/attention.json`.
    RAISES (ValueError): If such a file can't be read.
    RETURNS (list[Figure]): A picture for each component of each file.
    """
    found = [
        (key, heads)
        for key, path in find_listings(results, ATTENTION)
        for heads in read_attention(path)
    ]
    return [
        Figure(
            name=f"attention{number}",
            caption=(
                f"What each head of {paper.name_trials(get_trials(key))} attends to, "
                f"trained on {paper.name_dataset(key.dataset)} (the component "
                f"{heads.component})."
            ),
            draw=partial(_draw, heads),
        )
        for number, (key, heads) in enumerate(found, start=1)
    ]


def read_attention(path: Path) -> list[Heads]:
    """Read what the components of a pipeline attend to.

    path (Path): The JSON file.
    RAISES (ValueError): If it is damaged or of another kind.
    RETURNS (list[Heads]): The heads of each component.
    """
    return read_listing(
        path, "python -m lab attention", lambda content: list(_read_heads(content))
    )


def _read_heads(content: dict[str, Any]) -> Iterator[Heads]:
    tokens = get_part(content, "tokens", list)
    if len(tokens) > MAX_TOKENS:
        raise ValueError(f"there are {len(tokens)} tokens, and not 1 to {MAX_TOKENS}")
    if not tokens or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"'tokens' should be a list of texts, but is {quote(tokens)}")
    for component in get_part(content, "components", list):
        yield Heads(
            component=get_part(component, "name", str),
            tokens=tokens,
            weights=_read_weights(get_part(component, "heads", list), len(tokens)),
        )


def _read_weights(heads: list[Any], n_tokens: int) -> NDArray[np.float64]:
    expected = f"matrices of {n_tokens} by {n_tokens} numbers from 0 to 1"
    try:
        weights = np.asarray(heads)
    except ValueError:
        # rows of several lengths
        weights = np.empty(0)
    if len(heads) > _MAX_HEADS:
        raise ValueError(f"there are {len(heads)} heads, more than {_MAX_HEADS}")
    is_square = weights.ndim == 3 and weights.shape[1:] == (n_tokens, n_tokens)
    if not is_square or not all(map(_is_weight, chain(*chain(*heads)))):
        raise ValueError(f"'heads' should be {expected}, but is {quote(heads)}")
    return weights.astype("float64")


def _is_weight(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


def _draw(heads: Heads) -> bytes:
    n_heads, n_tokens, _ = heads.weights.shape
    size = min(_WIDTH, _LABELS + _TOKEN * n_tokens)
    n_columns = min(n_heads, int(_WIDTH // size))
    n_rows = -(-n_heads // n_columns)
    figure = import_figure()(
        figsize=(size * n_columns, (size + 0.3) * n_rows), layout="constrained"
    )
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    labels = [_shorten(token) for token in heads.tokens]
    # in points, of which an inch has 72
    font_size = min(8.0, 50 * (size - _LABELS) / n_tokens)
    for number, (axes, weights) in enumerate(
        zip(grid, heads.weights, strict=False), start=1
    ):
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
