import math

import pytest
from matplotlib.figure import Figure

from lab.papers.bars import make_bars
from lab.papers.paper import REPORT, read_paper

from ..recorded import write_result, write_seeds
from .test_tables import ABLATIONS
from .trials import fill

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"
SEEDS = "Seed 8 beside seed 9, with one hash"


def test_tables_2_and_3_are_filled(tmp_path):
    for dataset, rows in (("conll2002_nl", ABLATIONS[:3]), ("anem", ABLATIONS[3:])):
        variants = ("default", "norm_prefix_suffix", "norm_prefix", "norm", "orth")
        for i, variant in enumerate(variants):
            prefixes = ("ents", "ents_seen", "ents_unseen")
            test = {
                f"{prefix}_f": scores[i]
                for prefix, (scores, _) in zip(prefixes, rows, strict=True)
            }
            for seed in range(3):
                scores = {"test": test, "dev": {"ents_f": 0.1 * i}}
                write_result(tmp_path, dataset, HASH, variant, seed, scores)
    tables = fill(REPORT, tmp_path)
    for number in (2, 3):
        first, *others = tables[str(number)].rows
        assert first.stub == ("", "✓", "✓", "✓", "✓")
        assert others[1].stub == ("", "✓", "✓", "", "")
        assert others[3].stub == ("✓", "", "", "", "")
        assert all(not cell.ours and not cell.printed for cell in first.cells.values())
        for row in others:
            for cell in row.cells.values():
                assert cell.ours.mean == pytest.approx(cell.printed.mean, abs=0.005)
                assert cell.ours.n == 3
                assert not cell.differs


def test_seed_8_beside_seed_9(tmp_path):
    write_seeds(tmp_path, "anem", FEWER, "default", [0.50, 0.52, 0.54])
    write_seeds(tmp_path, "anem", FEWER, "seed9", [0.60, 0.61, 0.62])
    write_seeds(tmp_path, "wnut17", FEWER, "default", [0.2, 0.2])
    write_seeds(tmp_path, "wnut17", HASH, "seed9", [0.3])
    table = fill(REPORT, tmp_path)[SEEDS]
    assert [row.stub for row in table.rows] == [
        ("AnEM", "all"),
        ("AnEM", "seen"),
        ("AnEM", "unseen"),
    ]
    cells = table.rows[0].cells
    assert cells["seed8"].ours.mean == pytest.approx(0.52)
    assert cells["seed9"].ours.mean == pytest.approx(0.61)
    change = cells["change"].ours
    assert change.mean == pytest.approx(0.09)
    variance = 2 / 3 * 0.02**2 + 2 / 3 * 0.01**2
    assert change.deviation == pytest.approx(math.sqrt(variance))
    assert change.n == 3
    assert cells["change"].differs
    # equal for the other kinds
    assert not table.rows[1].cells["change"].differs
    assert table.rows[1].cells["change"].ours.mean == 0


def draw(root, drawn: list[Figure]) -> dict[int, Figure]:
    """Draw the figures for which there are trials: by number, in place of files."""
    figures = make_bars(read_paper().figures, fill(REPORT, root))
    assert [figure.name for figure in figures] == [f"figure{n}" for n in range(3, 8)]
    there = {n: each for n, each in enumerate(figures, start=3) if each.draw}
    assert all(each.draw().startswith(b"\x89PNG") for each in there.values())
    return dict(zip(there, drawn, strict=True))


@pytest.fixture
def figures(tmp_path, drawn) -> dict[int, Figure]:
    """Two embedders on two datasets, without vectors; one with, for one seed."""
    for embedder in (HASH, LOOKUP):
        write_seeds(tmp_path, "wnut17", embedder, "default", [0.1, 0.2, 0.3])
        write_seeds(tmp_path, "anem", embedder, "default", [0.5, 0.5, 0.5])
    scores = {"test": {"ents_f": 0.75}}
    write_result(tmp_path, "anem", LOOKUP, "vectors", scores=scores)
    return draw(tmp_path, drawn)


def get_heights(axes) -> list[list[float]]:
    bars = [container for container in axes.containers if hasattr(container, "patches")]
    return [[bar.get_height() for bar in container] for container in bars]


def get_lines(axes) -> list:
    """The error bars: for each series ours and the report's, each on white ground."""
    return [container for container in axes.containers if hasattr(container, "lines")]


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


def test_a_panel_without_trials_says_so(figures):
    assert figures[4].axes[1].get_title(loc="left").startswith("With pretrained")
    _, with_vectors = figures[5].axes
    assert "no trials yet" in with_vectors.get_title(loc="left")
    assert "no trials yet" not in figures[3].axes[1].get_title(loc="left")
