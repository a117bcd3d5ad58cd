"""An evaluation as HTML: a page to read and print, or a part of one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import cycle
from math import ceil
from typing import Any

from markupsafe import Markup, escape
from spacy.displacy.render import EntityRenderer

from ..display import render_template
from .tables import ScoreTable, make_sections

#: Kinds of errors that are shown with their texts; all are listed.
N_SHOWN = 20

_HEADINGS = {"P": "Precision", "R": "Recall", "F": "F1"}

# For types that displaCy has no colour for.
_COLORS = ("#9fd3f5", "#f7c59f", "#cdd3dd", "#d9c2f0", "#f5e38c", "#f2b5c4", "#a9ddd3")

_ENTITY = (
    '<mark class="entity {state}" style="background-color: {bg}">{text}'
    "<span>{label}</span></mark>"
)

_LINK = Markup('<a href="#{}error-{}">{}</a>')


def render(evaluation: Mapping[str, Any], *, is_page: bool) -> str:
    """Render an evaluation as one page that needs no other file, or as a part of one,
    whose style and anchors are its own. All text is escaped.
    """
    data = json.dumps(dict(evaluation), sort_keys=True).encode("utf8")
    digest = blake2b(data, digest_size=6).hexdigest()
    anchor = "" if is_page else f"hashembeds-{digest}-"
    values = {
        "evaluation": evaluation,
        "is_page": is_page,
        "anchor": anchor,
        "title": name_title(evaluation),
        "named": describe_setting(evaluation),
        "sections": make_sections(evaluation),
        "lay_out": _lay_out,
        "errors": _list_errors(evaluation["confusions"], anchor),
        "n_shown": N_SHOWN,
        "highlight": _Highlighter(evaluation.get("ents_per_type") or {}),
    }
    return render_template("evaluation.html.jinja", values)


def name_title(evaluation: Mapping[str, Any]) -> str:
    """Say what was evaluated."""
    things = "Named entities" if "schemes" in evaluation else "Categories of documents"
    return f"{things}, evaluated"


def describe_setting(evaluation: Mapping[str, Any]) -> dict[str, str]:
    """Name the predictions and the corpora, those that there are."""
    setting = evaluation["setting"]
    named = {
        "Predictions": setting["model"],
        "Against": (evaluation["comparison"] or {}).get("model"),
        "Gold corpus": setting["test"],
        "Training corpus": setting["train"],
    }
    return {key: name for key, name in named.items() if name is not None}


def _list_errors(confusions: Sequence[Mapping[str, Any]], anchor: str) -> ScoreTable:
    n_errors = sum(each["count"] for each in confusions)
    rows = []
    for number, each in enumerate(confusions, 1):
        gold, predicted = (each[key] or "none" for key in ("gold", "predicted"))
        if number <= N_SHOWN:
            gold = _LINK.format(anchor, number, gold)
        share = f"{each['count'] / n_errors * 100:.1f}%"
        rows.append((gold, predicted, each.get("error", ""), each["count"], share))
    return ScoreTable(
        None, None, ("Gold", "Predicted", "", "Count", "Share"), rows, "lll"
    )


def _lay_out(table: ScoreTable) -> ScoreTable:
    """Write headings out, and beside the cells draw the last scores with intervals of a
    table, or its differences.
    """
    header = [_HEADINGS.get(name, name) for name in table.header]
    rows = [[*row] for row in table.rows]
    if table.ranges:
        name = table.ranges[-1]
        header.append(f"{_HEADINGS[name]}, 0 to 100")
        for row in rows:
            row.append(_draw(*row[table.header.index(name)]))
    elif "Difference" in table.header:
        place = table.header.index("Difference")
        pairs = [(row[place].value, row[place + 1].bounds) for row in table.rows]
        values = [0.05, *(x for value, found in pairs for x in (value, *(found or ())))]
        # the least multiple of 5 points that no difference or bound exceeds
        scale = ceil(max(map(abs, values)) * 20 - 1e-9) / 20
        header.append(f"−{scale * 100:.1f} to +{scale * 100:.1f}")  # noqa: RUF001
        for row, pair in zip(rows, pairs, strict=True):
            row.append(_draw(*pair, -scale, scale))
    return replace(table, header=header, rows=rows)


def _draw(
    value: float | None,
    interval: Sequence[float] | None,
    low: float = 0.0,
    high: float = 1.0,
) -> Markup:
    """Draw a figure as a dot on a line from `low` to `high`, its interval as a bar."""

    def place(x: float) -> str:
        return f"{4 + 152 * (x - low) / (high - low):.1f}"

    shapes = ['<line x1="4" x2="156" y1="8" y2="8"/>']
    if low < 0 < high:
        zero = place(0)
        shapes.append(f'<line x1="{zero}" x2="{zero}" y1="1" y2="15"/>')
    if interval is not None:
        start, end = map(place, interval)
        shapes.append(f'<line class="bar" x1="{start}" x2="{end}" y1="8" y2="8"/>')
    if value is not None:
        shapes.append(f'<circle cx="{place(value)}" cy="8" r="2.5"/>')
    inner = "".join(shapes)
    return Markup(f'<svg viewBox="0 0 160 16" aria-hidden="true">{inner}</svg>')


class _Highlighter:
    """Marks entities in a text as displaCy does, those of an error more strongly."""

    def __init__(self, types: Iterable[str]) -> None:
        self._renderer = EntityRenderer({"template": _ENTITY})
        colors = cycle(_COLORS)
        self._colors = {
            label: self._renderer.colors.get(label.upper()) or next(colors)
            for label in sorted(types)
        }

    def __call__(self, text: str, marks: list[dict[str, Any]]) -> Markup:
        # predictions overlap where two are aligned with one gold token: errors go first
        kept: list[dict[str, Any]] = []
        for mark in sorted(marks, key=lambda mark: not mark["is_error"]):
            start, end = mark["start"], mark["end"]
            if all(end <= k["start"] or k["end"] <= start for k in kept):
                kept.append(mark)
        spans = []
        for mark in sorted(kept, key=lambda mark: mark["start"]):
            state = "error" if mark["is_error"] else "other"
            params = {"state": state, "bg": self._colors[mark["label"]]}
            label = str(escape(mark["label"]))  # displaCy escapes only the text
            spans.append({**mark, "label": label, "params": params})
        return Markup(self._renderer.render_ents(text, spans, None))
