from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from lab.importance.chart import draw_importance


def make_rows(**importance: float) -> list[dict[str, Any]]:
    return [
        {"importance": value, "values": [{"name": name, "key": "1"}]}
        for name, value in importance.items()
    ]


def make_table(attr: str = "NORM", **values: Any) -> dict[str, Any]:
    return {
        "component": "tok2vec",
        "number": 1,
        "attr": attr,
        "ngram_size": 1,
        "median_importance": 1.0,
        "largest": make_rows(best=2.0, good=1.5),
        "smallest": make_rows(worst=0.25, bad=0.5),
        **values,
    }


def draw(monkeypatch, tmp_path: Path, *tables: dict[str, Any]) -> Figure:
    """Draw a chart and get the figure instead of a file."""
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    draw_importance({"tables": list(tables)}, tmp_path / "chart.png")
    (figure,) = figures
    return figure


def test_bars_go_from_the_median_from_the_largest_down_to_the_smallest(
    monkeypatch, tmp_path
):
    (axes,) = draw(monkeypatch, tmp_path, make_table()).axes
    bars = [bar for container in axes.containers for bar in container]
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [
        *((1.0, 1.0), (1.0, 0.5), (1.0, -0.5), (1.0, -0.75))
    ]
    assert axes.yaxis_inverted()
    centers = [bar.get_y() + bar.get_height() / 2 for bar in bars]
    assert centers == pytest.approx([0, 1, 2, 3])
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["best", "good", "bad", "worst"]
    assert [text.get_text() for text in axes.texts] == [
        *("2.000", "1.500", "0.5000", "0.2500")
    ]
    assert axes.get_title() == "NORM in 'tok2vec'"
    assert axes.get_xlabel() == "Importance (bars begin at the median)"


def test_long_lists_are_cut_to_their_ends(monkeypatch, tmp_path):
    many = make_rows(**{f"w{i}": 2.0 + i for i in range(30)})
    table = make_table(largest=many[::-1], smallest=many)
    (axes,) = draw(monkeypatch, tmp_path, table).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"w{i}" for i in (*range(29, 9, -1), *range(19, -1, -1))]


def test_any_text_and_nothing_can_be_drawn(tmp_path):
    # half a formula, a formula, and what fonts lack
    rows = make_rows(**{"$\\": 1.0, "$x_1$": 1.0, "\U0001f9c1": 1.0, "\u4e2d": 1.0})
    odd = make_table("$", largest=rows, smallest=[])
    empty = make_table(largest=[], smallest=[], median_importance=None)
    draw_importance({"tables": [odd, empty]}, tmp_path / "chart.png")
