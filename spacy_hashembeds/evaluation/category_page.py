"""An evaluation of categories as HTML: a page to read and print, or a part of one."""

from collections.abc import Mapping
from typing import Any

from .categories import AVERAGES, name_accuracy
from .category_tables import name_score
from .page import N_SHOWN
from .rendering import find_scale, render


def render_page(evaluation: Mapping[str, Any]) -> str:
    """Render an evaluation as one HTML page that needs no other file and no script.

    evaluation (Mapping[str, Any]): What `evaluate` returns. All text of it is escaped.
    RETURNS (str): The page.
    """
    return _render(evaluation, is_page=True)


def render_part(evaluation: Mapping[str, Any]) -> str:
    """Render an evaluation as a part of a page that holds other things.

    evaluation (Mapping[str, Any]): What `evaluate` returns. All text of it is escaped.
    RETURNS (str): A `style` and a `div`.
    """
    return _render(evaluation, is_page=False)


def _render(evaluation: Mapping[str, Any], *, is_page: bool) -> str:
    comparison = evaluation["comparison"] or {}
    compared = {
        key: row
        for key, row in comparison.items()
        if key != "model" and row is not None
    }
    return render(
        "categories.html.jinja",
        evaluation,
        is_page=is_page,
        accuracy=name_accuracy(evaluation).capitalize(),
        averages=AVERAGES,
        compared={
            key: (" ".join(name_score(evaluation, key)).strip(), row)
            for key, row in compared.items()
        },
        most=max(
            map(max, (evaluation["matrix"] or {}).get("counts") or [[0]]), default=0
        ),
        n_errors=sum(confusion["count"] for confusion in evaluation["confusions"]),
        n_shown=N_SHOWN,
        scale=find_scale(compared.values()),
    )
