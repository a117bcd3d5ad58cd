import sys
from io import BytesIO
from itertools import pairwise

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from lab.papers.figures import FIGURES, draw_figures
from lab.papers.tables import make_trial_tables
from lab.trials.results import read_results

from ..trials.test_results import write_result, write_seeds


@pytest.fixture
def tables(tmp_path):
    """Two embedders on two datasets, without vectors; one with, for one seed."""
    for embedder in ("multi_hash_embed", "multi_embed"):
        write_seeds(tmp_path, "wnut17", embedder, "default", [0.1, 0.2, 0.3])
        write_seeds(tmp_path, "anem", embedder, "default", [0.5, 0.5, 0.5])
    scores = {"test": {"ents_f": 0.75}}
    write_result(tmp_path, "anem", "multi_embed", "vectors", scores=scores)
    return make_trial_tables(read_results(tmp_path))


@pytest.fixture
def figures(tables, monkeypatch) -> dict[int, Figure]:
    """The figures instead of files."""
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    return dict(zip(draw_figures(tables), drawn, strict=True))


def get_heights(axes) -> list[list[float]]:
    bars = [container for container in axes.containers if hasattr(container, "patches")]
    return [[bar.get_height() for bar in container] for container in bars]


def get_lines(axes) -> list:
    """The error bars: for each series ours and the report's, each on white ground."""
    return [container for container in axes.containers if hasattr(container, "lines")]


def test_they_are_pngs_of_a_size_to_read(tables):
    files = draw_figures(tables)
    assert list(files) == [3, 4, 5, 6]
    for number, png in files.items():
        height, width, _ = imread(BytesIO(png), format="png").shape
        panels = len(FIGURES[number - 3].panels)
        assert width == 1350
        assert height == pytest.approx(150 * (0.7 + 2.6 * panels), abs=1)


def test_equal_results_give_equal_files(tables):
    assert draw_figures(tables) == draw_figures(tables)


def test_bars_are_the_means_of_the_tables(figures):
    without, with_vectors = figures[3].axes
    nan = pytest.approx(float("nan"), nan_ok=True)
    datasets = [nan, nan, pytest.approx(0.2), nan, pytest.approx(0.5), nan]
    assert get_heights(without)[:2] == [datasets, datasets]
    assert get_heights(without)[2] == [nan] * 6
    assert get_heights(with_vectors)[0] == [nan, nan, nan, nan, 0.75, nan]


def test_deviations_are_drawn_where_there_are_seeds(figures):
    without, with_vectors = figures[3].axes
    ours = get_lines(without)[1]
    (bars,) = ours.lines[2]
    spans = [segment[:, 1] for segment in bars.get_segments()]
    assert spans[0] == pytest.approx([0.2 - 0.0816497, 0.2 + 0.0816497], abs=1e-6)
    one_seed = get_lines(with_vectors)[1]
    (bars,) = one_seed.lines[2]
    heights = [y for segment in bars.get_segments() for _, y in segment]
    assert all(y != y for y in heights)


def test_the_reports_figures_stand_beside(figures):
    without, _ = figures[3].axes
    printed = get_lines(without)[3]
    assert list(printed.lines[0].get_ydata()) == [0.77, 0.75, 0.19, 0.80, 0.44, 0.81]
    # Within its own bar, beside the middle.
    xs = printed.lines[0].get_xdata()
    bar = without.containers[0][2]
    middle = bar.get_x() + bar.get_width() / 2
    assert middle < xs[2] < bar.get_x() + bar.get_width()


def test_figure_5_has_a_bar_for_each_number_of_hashes(tmp_path, monkeypatch):
    variants = {"default": 0.2, "hashes2": 0.3, "hashes3": 0.4}
    for variant, f in variants.items():
        write_seeds(
            tmp_path, "wnut17", "multi_fewer_hash_embed", variant, [f], split="dev"
        )
    write_seeds(tmp_path, "wnut17", "multi_hash_embed", "default", [0.5], split="dev")
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    numbers = list(draw_figures(make_trial_tables(read_results(tmp_path))))
    axes = drawn[numbers.index(5)].axes[0]
    assert [heights[2] for heights in get_heights(axes)] == [0.2, 0.3, 0.4, 0.5]
    middles = [
        container[2].get_x() + container[2].get_width() / 2
        for container in axes.containers
        if hasattr(container, "patches")
    ]
    assert middles == sorted(middles)
    assert sum(middles) / 4 == pytest.approx(2)


def test_labels_say_what_is_drawn(figures):
    figure = figures[6]
    without, with_vectors = figure.axes
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "MultiHashEmbed",
        "MultiEmbed, min_freq 10",
        "MultiEmbed, min_freq 5",
        "MultiEmbed, min_freq 1",
        "the report",
    ]
    assert without.get_ylabel() == "F1 (%), development"
    assert without.get_title(loc="left") == "Without pretrained vectors"
    assert [text.get_text() for text in with_vectors.get_xticklabels()] == [
        "CoNLL es",
        "CoNLL nl",
        "WNUT2017",
        "Archeology",
        "AnEM",
        "OntoNotes",
    ]


def test_the_legend_fits(figures):
    for figure in figures.values():
        figure.canvas.draw()
        box = figure.legends[0].get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_a_panel_without_trials_says_so(figures):
    assert figures[4].axes[1].get_title(loc="left").startswith("With pretrained")
    _, with_vectors = figures[5].axes
    assert "no trials yet" in with_vectors.get_title(loc="left")
    assert "no trials yet" not in figures[3].axes[1].get_title(loc="left")


def test_bars_are_told_apart_in_grey(figures):
    def get_grey(bar):
        red, green, blue, _ = bar.get_facecolor()
        return 0.299 * red + 0.587 * green + 0.114 * blue

    for figure in figures.values():
        axes = figure.axes[0]
        bars = [c[0] for c in axes.containers if hasattr(c, "patches")]
        greys = sorted(get_grey(bar) for bar in bars)
        assert all(b - a > 0.15 for a, b in pairwise(greys))


def test_an_embedder_has_one_colour_in_all_figures(figures):
    """Of the same trials; shades of it for others; and its own hatching."""
    colors: dict[str, set] = {}
    for figure in figures.values():
        axes = figure.axes[0]
        for bars in axes.containers:
            if hasattr(bars, "patches"):
                name = bars.get_label().removesuffix(", min_freq 10")
                red, _, blue, _ = bars[0].get_facecolor()
                is_lookup = name.startswith("MultiEmbed")
                assert (red > blue) == is_lookup
                assert bool(bars[0].get_hatch()) == is_lookup
                colors.setdefault(name, set()).add(bars[0].get_facecolor())
    colors["MultiHashEmbed"] |= colors["4 hashes"]
    assert {name: len(found) for name, found in colors.items() if len(found) > 1} == {}
    assert len(set.union(*colors.values())) == 4 + 3


def test_nothing_is_drawn_of_nothing():
    assert draw_figures(make_trial_tables({})) == {}


def test_without_matplotlib_the_extra_is_named(tables, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = r"matplotlib: pip install 'spacy-hashembeds\[report\]'"
    with pytest.raises(ImportError, match=message):
        draw_figures(tables)
