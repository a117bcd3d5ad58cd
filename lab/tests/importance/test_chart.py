import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
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


def test_it_is_a_png(tmp_path):
    path = tmp_path / "charts" / "chart.png"
    draw_importance({"tables": [make_table()]}, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in path.parent.iterdir()] == ["chart.png"]


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


def test_numbers_have_room_beside_the_bars(monkeypatch, tmp_path):
    table = make_table(
        largest=make_rows(**{"w" * 20: 0.24}), smallest=make_rows(worst=3.545e-06)
    )
    (axes,) = draw(monkeypatch, tmp_path, {**table, "median_importance": 0.03}).axes
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    left, right = axes.bbox.x0, axes.bbox.x1
    for text in axes.texts:
        box = text.get_window_extent()
        assert left < box.x0 < box.x1 < right


def test_each_table_has_a_panel(monkeypatch, tmp_path):
    tables = [make_table(attr) for attr in ("NORM", "PREFIX", "SHAPE")]
    titles = [axes.get_title() for axes in draw(monkeypatch, tmp_path, *tables).axes]
    assert titles == [f"{attr} in 'tok2vec'" for attr in ("NORM", "PREFIX", "SHAPE")]


def test_long_lists_are_cut_to_their_ends(monkeypatch, tmp_path):
    many = make_rows(**{f"w{i}": 2.0 + i for i in range(30)})
    table = make_table(largest=many[::-1], smallest=many)
    (axes,) = draw(monkeypatch, tmp_path, table).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"w{i}" for i in (*range(29, 9, -1), *range(19, -1, -1))]


def test_any_text_can_be_drawn(tmp_path):
    # half a formula, a formula, and what fonts lack
    rows = make_rows(**{"$\\": 1.0, "$x_1$": 1.0, "\U0001f9c1": 1.0, "\u4e2d": 1.0})
    table = make_table("$", largest=rows, smallest=[])
    draw_importance({"tables": [table]}, tmp_path / "chart.png")


def test_a_table_of_nothing_can_be_drawn(tmp_path):
    table = make_table(largest=[], smallest=[], median_importance=None)
    draw_importance({"tables": [table]}, tmp_path / "chart.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = r"matplotlib: pip install 'spacy-hashembeds\[report\]'"
    with pytest.raises(ImportError, match=message):
        draw_importance({"tables": [make_table()]}, tmp_path / "chart.png")
    assert list(tmp_path.iterdir()) == []
