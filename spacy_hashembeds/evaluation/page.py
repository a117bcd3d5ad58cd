"""An evaluation of entities as HTML: a page to read and print, or a part of one."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from markupsafe import Markup, escape
from spacy.displacy.render import EntityRenderer

from .groups import GROUPINGS
from .rendering import find_scale, render
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
    return _render(evaluation, is_page=True)


def render_part(evaluation: Mapping[str, Any]) -> str:
    """Render an evaluation as a part of a page that holds other things.

    Its style is for itself alone, and its anchors are those of no other evaluation.

    evaluation (Mapping[str, Any]): What `evaluate` returns. All text of it is escaped.
    RETURNS (str): A `style` and a `div`.
    """
    return _render(evaluation, is_page=False)


def _render(evaluation: Mapping[str, Any], *, is_page: bool) -> str:
    comparison, misspelt = (evaluation[key] or {} for key in ("comparison", "misspelt"))
    compared = [comparison[kind] for kind in KINDS if comparison.get(kind)]
    lost = [misspelt[kind] for kind in KINDS if misspelt.get(kind)]
    return render(
        "evaluation.html.jinja",
        evaluation,
        is_page=is_page,
        kinds=KINDS,
        groupings=GROUPINGS,
        outcomes=OUTCOMES,
        labels=sorted(evaluation["ents_per_type"] or {}),
        n_errors=sum(confusion["count"] for confusion in evaluation["confusions"]),
        n_shown=N_SHOWN,
        is_compared=bool(compared),
        is_misspelt=bool(lost),
        scale=find_scale(row for rows in compared for row in rows.values()),
        scale_of_lost=find_scale(row for rows in lost for row in rows.values()),
        scale_of_parts=find_scale(
            rows["f"]
            for division in ("per_type", "per_length")
            for rows in comparison.get(division, {}).values()
            if rows is not None
        ),
        highlight=_Highlighter(evaluation),
    )


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
