"""Evaluations as HTML: what their pages share."""

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from math import ceil
from typing import Any

from jinja2 import PackageLoader
from markupsafe import Markup

from ..controls import show_controls
from ..html_templates import make_environment


def render(
    body: str, evaluation: Mapping[str, Any], *, is_page: bool, **context: Any
) -> str:
    """Render an evaluation as one page that needs no other file, or as a part of one.

    A part has a style for itself alone, and its anchors are those of no other
    evaluation. All text is escaped.

    body (str): The template of what is in it.
    evaluation (Mapping[str, Any]): What `evaluate` returns.
    is_page (bool): Whether it is a page.
    context: What the template needs besides.
    RETURNS (str): The page, or a `style` and a `div`.
    """
    environment = make_environment(PackageLoader(__package__ or ""))
    environment.filters.update(
        percent=_percent, range=_range, signed=_signed, whisker=_draw_whisker
    )
    template = "page.html.jinja" if is_page else "part.html.jinja"
    page = environment.get_template(template).render(
        body=body,
        evaluation=evaluation,
        anchor="" if is_page else _make_anchor(evaluation),
        **context,
    )
    # at the end, since entities stand at certain characters of a text
    return show_controls(page)


def find_scale(rows: Iterable[Mapping[str, Any]]) -> float:
    """Give the least multiple of 5 points that no difference or bound exceeds.

    rows (Iterable[Mapping[str, Any]]): Those of a comparison.
    """
    values = [0.05]
    for row in rows:
        values += [row["difference"], *(row["interval"] or ())]
    return ceil(max(map(abs, values)) * 20 - 1e-9) / 20


def _make_anchor(evaluation: Mapping[str, Any]) -> str:
    data = json.dumps(dict(evaluation), sort_keys=True).encode("utf8")
    return f"hashembeds-{blake2b(data, digest_size=6).hexdigest()}-"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f}"  # noqa: RUF001


def _range(interval: list[float] | None) -> str:
    if interval is None:
        return ""
    return f"{interval[0] * 100:.1f}–{interval[1] * 100:.1f}"  # noqa: RUF001


def _signed(value: float) -> str:
    return f"{value * 100:+.1f}".replace("-", "−")  # noqa: RUF001


def _draw_whisker(
    value: float | None,
    interval: list[float] | None,
    low: float = 0.0,
    high: float = 1.0,
) -> Markup:
    """Draw a figure as a dot on a line from `low` to `high`, its interval as a bar."""

    def place(x: float) -> str:
        return f"{4 + 152 * (x - low) / (high - low):.1f}"

    shapes = ['<line class="axis" x1="4" x2="156" y1="8" y2="8"/>']
    if low < 0 < high:
        zero = place(0)
        shapes.append(f'<line class="zero" x1="{zero}" x2="{zero}" y1="1" y2="15"/>')
    if interval is not None:
        start, end = (place(bound) for bound in interval)
        shapes.append(f'<line class="bar" x1="{start}" x2="{end}" y1="8" y2="8"/>')
    if value is not None:
        shapes.append(f'<circle cx="{place(value)}" cy="8" r="2.5"/>')
    return Markup(
        f'<svg viewBox="0 0 160 16" aria-hidden="true">{"".join(shapes)}</svg>'
    )
