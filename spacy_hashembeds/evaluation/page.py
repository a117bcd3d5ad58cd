"""An evaluation as HTML: a page for reading and for printing, or a part of one."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from itertools import cycle
from math import ceil
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from spacy.displacy.render import EntityRenderer

from ..controls import show_controls
from .groups import GROUPINGS
from .schemes import OUTCOMES
from .scorer import KINDS

#: Kinds of errors that are shown with their sentences; all are listed.
N_SHOWN = 20

# For types that displaCy has no colour for.
_COLORS = ("#9fd3f5", "#f7c59f", "#cdd3dd", "#d9c2f0", "#f5e38c", "#f2b5c4", "#a9ddd3")

_ENTITY = (
    '<mark class="entity {state}" style="background-color: {bg}">{text}'
    "<span>{label}</span></mark>"
)


def render_page(evaluation: Mapping[str, Any]) -> str:
    """Render an evaluation as one HTML page that needs no other file and no script.

    evaluation (Mapping[str, Any]): What `evaluate` returns. All text of it is escaped.
    RETURNS (str): The page.
    """
    return _render("page.html.jinja", evaluation, anchor="")


def render_part(evaluation: Mapping[str, Any]) -> str:
    """Render an evaluation as a part of a page that holds other things.

    Its style is for itself alone, and its anchors are those of no other evaluation.

    evaluation (Mapping[str, Any]): What `evaluate` returns. All text of it is escaped.
    RETURNS (str): A `style` and a `div`.
    """
    data = json.dumps(dict(evaluation), sort_keys=True).encode("utf8")
    digest = blake2b(data, digest_size=6).hexdigest()
    return _render("part.html.jinja", evaluation, anchor=f"hashembeds-{digest}-")


def _render(template: str, evaluation: Mapping[str, Any], *, anchor: str) -> str:
    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=_percent, range=_range, signed=_signed, whisker=_draw_whisker
    )
    page = environment.get_template(template).render(
        evaluation=evaluation,
        anchor=anchor,
        kinds=KINDS,
        groupings=GROUPINGS,
        outcomes=OUTCOMES,
        labels=sorted(evaluation["ents_per_type"] or {}),
        n_errors=sum(confusion["count"] for confusion in evaluation["confusions"]),
        n_shown=N_SHOWN,
        is_compared=any((evaluation["comparison"] or {}).get(kind) for kind in KINDS),
        scale=_find_scale(evaluation["comparison"]),
        highlight=_Highlighter(evaluation),
    )
    # at the end, since entities stand at certain characters of a text
    return show_controls(page)


class _Highlighter:
    """Marks entities in a text as displaCy does, those of an error more strongly."""

    def __init__(self, evaluation: Mapping[str, Any]) -> None:
        self._renderer = EntityRenderer({"template": _ENTITY})
        colors = cycle(_COLORS)
        self._colors = {
            label: self._renderer.colors.get(label.upper()) or next(colors)
            for label in sorted(evaluation["ents_per_type"] or {})
        }

    def __call__(self, text: str, marks: list[dict[str, Any]]) -> Markup:
        spans = [
            {
                "start": mark["start"],
                "end": mark["end"],
                "label": str(escape(mark["label"])),  # displaCy escapes only the text
                "params": {
                    "state": "error" if mark["is_error"] else "other",
                    "bg": self._colors[mark["label"]],
                },
            }
            for mark in _drop_overlaps(marks)
        ]
        return Markup(self._renderer.render_ents(text, spans, None))


def _drop_overlaps(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep marks that can stand in one line, the error's first.

    Predictions overlap only where two of them are aligned with one gold token.
    """
    kept: list[dict[str, Any]] = []
    for mark in sorted(marks, key=lambda mark: not mark["is_error"]):
        if all(mark["end"] <= k["start"] or k["end"] <= mark["start"] for k in kept):
            kept.append(mark)
    return sorted(kept, key=lambda mark: mark["start"])


def _find_scale(comparison: Mapping[str, Any] | None) -> float:
    """Give the least multiple of 5 points that no difference or bound exceeds."""
    values = [0.05]
    for kind in KINDS:
        for row in ((comparison or {}).get(kind) or {}).values():
            values += [row["difference"], *(row["interval"] or ())]
    return ceil(max(map(abs, values)) * 20 - 1e-9) / 20


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
