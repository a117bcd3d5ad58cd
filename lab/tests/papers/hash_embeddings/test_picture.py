import sys

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lab.papers.hash_embeddings.layouts import (
    HASH,
    HASH_DICTIONARY,
    STANDARD,
    Embedding,
)
from lab.papers.hash_embeddings.picture import draw_sizes, find_points
from lab.trials.results import read_results

from .trials import write_accuracies


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fifth = ("hash_ngram_textcat", "fifth")
    write_accuracies(folder, "ag_news", HASH, [0.9, 0.92], parameters=5000)
    write_accuracies(folder, "ag_news", fifth, [0.8], parameters=1000)
    write_accuracies(folder, "ag_news", STANDARD, [0.7], parameters=9000)
    write_accuracies(folder, "ag_news_small", HASH_DICTIONARY, [0.6], parameters=700)
    write_accuracies(folder, "$mine$", ("cnn", "default"), [0.5], parameters=70)
    write_accuracies(folder, "$mine$", ("none", "default"), [0.5], parameters=0)
    return read_results(folder)


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    """The figures that were saved, to be looked into."""
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda self, *a, **k: figures.append(self) or save(self, *a, **k),
    )
    return figures


def test_the_sizes_of_an_embedding_are_one_series(groups):
    panels = find_points(groups)
    assert list(panels) == ["ag_news", "ag_news_small", "$mine$"]
    series = panels["ag_news"]
    assert list(series) == [HASH, STANDARD]
    points = [(p.parameters, p.accuracy.mean) for p in series[HASH]]
    assert points == [(1000, 0.8), (5000, pytest.approx(0.91))]


def test_an_embedding_without_parameters_has_no_place(groups):
    assert list(find_points(groups)["$mine$"]) == [Embedding("cnn", "default")]


def read_lines(axes) -> dict[str, list[tuple[float, float]]]:
    """The points in each colour; the paper's are hollow."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for line in axes.lines:
        if line.get_marker() in ("_", "|"):  # caps of error bars
            continue
        kind = "hollow" if line.get_markerfacecolor() == "none" else "full"
        color = to_hex(line.get_markeredgecolor())
        lines.setdefault(f"{kind} {color}", []).extend(map(tuple, line.get_xydata()))
    return {name: points for name, points in lines.items() if points}


def test_panels_have_our_points_and_the_papers(groups, drawn):
    png = draw_sizes(groups)
    assert png.startswith(b"\x89PNG")
    (figure,) = drawn
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["AG's News", "Small AG's News", "$mine$"]
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    lines = read_lines(figure.axes[0])
    full = {name: points for name, points in lines.items() if name.startswith("full")}
    assert sorted(full.values()) == [
        [(1000, 80), (5000, pytest.approx(91))],
        [(9000, 70)],
    ]
    hollow = {name: points for name, points in lines.items() if name not in full}
    # 40, 150 and 200 million parameters: sections 5.3 and 5.5
    assert sorted(points for (points,) in hollow.values()) == [
        (40e6, pytest.approx(92.4)),
        (150e6, pytest.approx(92.0)),
        (200e6, pytest.approx(92.0)),
    ]
    # the paper's are in the colours of ours
    (ours,) = [name for name, points in full.items() if len(points) == 2]
    (paper,) = [name for name, points in hollow.items() if points[0][0] == 40e6]
    assert ours.split()[1] == paper.split()[1]
    # no figures of the paper where the task is another
    for axes in figure.axes[1:]:
        assert [name.split()[0] for name in read_lines(axes)] == ["full"]


def test_the_legend_names_each_embedding_once_in_a_style_of_its_own(groups, drawn):
    draw_sizes(groups)
    (legend,) = drawn[0].legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "Hash embeddings (no dict.)",
        "Standard embeddings (dict.)",
        "Hash embeddings (dict.)",
        "cnn default",
        "the paper",
    ]
    styles = [
        (line.get_marker(), to_hex(line.get_color())) for line in legend.get_lines()
    ]
    assert len(set(styles)) == 5
    draw_sizes({key: groups[key] for key in groups if key.dataset != "ag_news"})
    (legend,) = drawn[1].legends
    assert "the paper" not in [text.get_text() for text in legend.get_texts()]


def test_deviations_are_drawn(groups, drawn):
    draw_sizes(groups)
    (segments,) = [
        [segment.tolist() for segment in lines.get_segments()]
        for lines in drawn[0].axes[0].collections
        if len(lines.get_segments()) == 2
    ]
    heights = [abs(top - bottom) for (_, bottom), (_, top) in segments]
    assert heights == pytest.approx([0, 2])


def test_many_embeddings_are_drawn(tmp_path):
    for i in range(20):
        write_accuracies(tmp_path, "mine", ("cnn", f"v{i}"), [0.5], parameters=i + 1)
    assert draw_sizes(read_results(tmp_path)).startswith(b"\x89PNG")


def test_nothing_is_drawn_of_nothing():
    assert draw_sizes({}) is None


def test_without_matplotlib_the_extra_is_named(groups, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[report\]'"):
        draw_sizes(groups)
