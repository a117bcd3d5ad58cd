import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.image import imread

from spacy_hashembeds.comparison.chart import draw_comparison


def make_row(embedder: str, f: list[float | None], **values: Any) -> dict[str, Any]:
    supports = {"all": 30, "seen": 10, "unseen": 20}
    return {
        "dataset": "wnut17",
        "name": embedder,
        **{
            kind: {"f": score, "support": supports[kind]}
            for kind, score in zip(supports, f, strict=True)
        },
        **values,
    }


MACHINE = {
    "cpu": "a CPU",
    "cores": 2,
    "python": "3.12.1",
    "load_at_start": 0.1,
    "load_at_end": 1.0,
    "other_cores_busy": 0.02,
}


def make_comparison(rows: list[dict[str, Any]], *disturbances: str) -> dict[str, Any]:
    return {
        "dataset": "wnut17",
        "machine": MACHINE,
        "disturbances": list(disturbances),
        "rows": rows,
    }


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    return [
        make_row(
            "multi_hash_embed",
            [0.5, 0.8125, 0.25],
            embedding_parameters=1_251_000,
            words_per_second=7_340,
            words_per_second_quartiles=[7_140, 7_440],
        ),
        make_row(
            "multi_embed",
            [0.463, 0.9, 0.111],
            embedding_parameters=204_999,
            words_per_second=21_060,
            words_per_second_quartiles=[20_060, 23_060],
        ),
    ]


def draw(rows, monkeypatch, tmp_path: Path, *disturbances: str) -> Figure:
    """Draw a chart and get the figure instead of a file."""
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    draw_comparison(make_comparison(rows, *disturbances), tmp_path / "chart.png")
    (figure,) = figures
    return figure


def get_texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def get_legend(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def get_widths(axes) -> list[list[float]]:
    groups = [bars for bars in axes.containers if isinstance(bars, BarContainer)]
    return [[bar.get_width() for bar in bars] for bars in groups]


def test_it_is_a_png_of_a_size_to_read(rows, tmp_path):
    path = tmp_path / "charts" / "chart.png"
    draw_comparison(make_comparison(rows), path)
    assert path.read_bytes().startswith(b"\x89PNG")
    height, width, _ = imread(path).shape
    # 10 by 3.4 inches at 150 dots
    assert (width, height) == (1500, 510)
    assert [file.name for file in path.parent.iterdir()] == ["chart.png"]


def test_it_grows_with_the_rows(rows, tmp_path):
    draw_comparison(make_comparison(rows * 2), tmp_path / "chart.png")
    height, _, _ = imread(tmp_path / "chart.png").shape
    assert height == 735


def test_bars_are_the_figures_of_the_rows(rows, monkeypatch, tmp_path):
    scores, sizes, speeds = draw(rows, monkeypatch, tmp_path).axes
    expected = [[50.0, 46.3], [81.25, 90.0], [25.0, 11.1]]
    for widths, values in zip(get_widths(scores), expected, strict=True):
        assert widths == pytest.approx(values)
    assert get_texts(scores) == ["50.0", "46.3", "81.2", "90.0", "25.0", "11.1"]
    assert get_widths(sizes) == [pytest.approx([1.251, 0.204999])]
    assert get_texts(sizes) == ["1.25", "0.20"]
    assert get_widths(speeds) == [pytest.approx([7.34, 21.06])]
    assert get_texts(speeds) == ["7.3", "21.1"]


def test_whiskers_go_from_quartile_to_quartile(rows, monkeypatch, tmp_path):
    speeds = draw(rows, monkeypatch, tmp_path).axes[2]
    (whiskers,) = (c for c in speeds.containers if isinstance(c, ErrorbarContainer))
    *_, (lines,) = whiskers.lines
    ends = [segment[:, 0].tolist() for segment in lines.get_segments()]
    assert ends == [pytest.approx([7.14, 7.44]), pytest.approx([20.06, 23.06])]


def test_labels_say_what_is_drawn(rows, monkeypatch, tmp_path):
    figure = draw(rows, monkeypatch, tmp_path)
    scores, sizes, speeds = figure.axes
    assert figure.get_suptitle() == (
        "Embedders on wnut17\n"
        "Python 3.12.1, a CPU; load 0.10 to 1.00, others 0.02 cores"
    )
    assert [label.get_text() for label in scores.get_yticklabels()] == [
        "multi_hash_embed",
        "multi_embed",
    ]
    assert get_legend(figure) == ["all (30)", "seen (10)", "unseen (20)"]
    assert "F1 (percent)" in scores.get_xlabel()
    assert sizes.get_xlabel() == "Embedding parameters\n(million)"
    assert speeds.get_xlabel() == "Words per second\n(thousand; lines: quartiles)"


def test_the_title_says_that_the_machine_was_not_idle(rows, monkeypatch, tmp_path):
    figure = draw(rows, monkeypatch, tmp_path, "Other processes kept 1.0 of 2 cores.")
    assert figure.get_suptitle().endswith("others 0.02 cores: disturbed")


@pytest.mark.parametrize("n_rows", [1, 2])
def test_the_legend_covers_nothing(n_rows, rows, monkeypatch, tmp_path):
    figure = draw(rows[:n_rows], monkeypatch, tmp_path)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (legend,) = (item.get_window_extent() for item in figure.legends)
    assert legend.x0 >= 0
    assert legend.y0 >= 0
    for axes in figure.axes:
        assert not legend.overlaps(axes.get_tightbbox(canvas.get_renderer()))


def test_the_first_row_is_on_top_and_its_bars_stand_together(
    rows, monkeypatch, tmp_path
):
    figure = draw(rows, monkeypatch, tmp_path)
    scores = figure.axes[0]
    assert scores.yaxis_inverted()
    for i in range(len(rows)):
        bars = [container[i] for container in scores.containers]
        centers = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        # All, seen, unseen from above, around the name, without overlap.
        assert centers == sorted(centers)
        assert centers[1] == pytest.approx(i)
        edges = [bars[0].get_y(), bars[-1].get_y() + bars[-1].get_height()]
        assert i - 0.5 < edges[0] < edges[1] < i + 0.5


def test_bars_and_their_labels_have_room(rows, monkeypatch, tmp_path):
    for axes in draw(rows, monkeypatch, tmp_path).axes:
        left, right = axes.get_xlim()
        assert left == 0
        longest = max(width for widths in get_widths(axes) for width in widths)
        assert right > 1.1 * longest


def test_kinds_of_entities_that_are_not_there(rows, monkeypatch, tmp_path):
    for row in rows:
        row["seen"] = {"f": None, "support": 0}
    figure = draw(rows, monkeypatch, tmp_path)
    scores = figure.axes[0]
    assert get_widths(scores)[1] == [0.0, 0.0]
    assert get_texts(scores)[2:4] == ["none", "none"]
    assert "seen (0)" in get_legend(figure)


def test_without_matplotlib_the_extra_is_named(rows, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = r"matplotlib: pip install 'spacy-hashembeds\[report\]'"
    with pytest.raises(ImportError, match=message):
        draw_comparison(make_comparison(rows), tmp_path / "chart.png")
    assert list(tmp_path.iterdir()) == []


def test_text_classifiers_have_accuracy_and_macro_f1(rows, monkeypatch, tmp_path):
    figures = [(0.9, 0.85), (0.75, None)]
    for row, (accuracy, macro_f) in zip(rows, figures, strict=True):
        for kind in ("all", "seen", "unseen"):
            del row[kind]
        scores = {"accuracy": accuracy, "macro_f": macro_f, "micro_f": accuracy}
        row |= {**scores, "documents": 7600, "exclusive": True}
    figure = draw(rows, monkeypatch, tmp_path)
    scores = figure.axes[0]
    assert get_widths(scores) == [pytest.approx([90, 75]), pytest.approx([85, 0])]
    assert get_texts(scores) == ["90.0", "75.0", "85.0", "none"]
    assert get_legend(figure) == ["accuracy", "macro F1"]
    assert scores.get_xlabel() == "Percent\n(of 7,600 documents)"
    rows[1]["exclusive"] = False
    assert "exact match" in get_legend(draw(rows, monkeypatch, tmp_path))
