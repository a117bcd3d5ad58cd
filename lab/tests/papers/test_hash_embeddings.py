import pytest
from matplotlib.colors import to_hex

from lab.papers.hash_embeddings import make_importance_table
from lab.papers.paper import read_paper
from lab.papers.sizes import find_points, make_sizes
from lab.trials.results import read_results

from .trials import make_importance, write_accuracies, write_beside

PAPER = read_paper("hash-embeddings")
HASH, STANDARD = "hash_ngram_textcat/default", "hash_ngram_textcat/standard"


def list_importance(root) -> list[tuple[str, ...]]:
    return [row.stub for row in make_importance_table(PAPER, root).rows]


def test_the_paper_comes_first_as_it_is_printed(tmp_path):
    rows = list_importance(tmp_path)
    assert [row[:2] for row in rows] == [
        ("Yelp Polarity", "the paper"),
        ("Amazon Full", "the paper"),
    ]
    assert rows[0][2].startswith("What_a_joke, not_a_good_experience, Great_")
    assert rows[1][3].endswith("years_and_though, you_want_a_real_good")


def test_each_table_of_weights_has_a_row(tmp_path):
    values = [{"name": None, "key": "17"}, {"name": "\n", "key": "18"}]
    smallest = [{"values": [value]} for value in values]
    first = make_importance("what a joke", "x", "y", smallest=smallest)
    tables = [first, make_importance("awful", attr="ORTH", ngram_size=1)]
    path = "yelp_full/hash_ngram_textcat/dictionary/importance.json"
    write_beside(tmp_path / path, {"tables": tables})
    path = "mine/multi_weighted_hash_embed/v/importance.json"
    write_beside(tmp_path / path, {"tables": tables[1:]})
    name = "Hash embeddings (dict.)"
    assert list_importance(tmp_path)[2:] == [
        ("mine", "multi_weighted_hash_embed v: ORTH", "awful", "awful"),
        # written as in the paper; what has no name by its hash
        (
            *("Yelp Full", f"{name}: NORM, 1 to 9 words"),
            *("what_a_joke (+2)", r"#17, '\n'"),
        ),
        ("Yelp Full", f"{name}: ORTH", "awful", "awful"),
    ]


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fifth = f"{HASH}_fifth"
    write_accuracies(folder, "ag_news", HASH, [0.9, 0.92], parameters=5000)
    write_accuracies(folder, "ag_news", fifth, [0.8], parameters=1000)
    write_accuracies(folder, "ag_news", STANDARD, [0.7], parameters=9000)
    dictionary = "hash_ngram_textcat/dictionary"
    write_accuracies(folder, "ag_news_small", dictionary, [0.6], parameters=700)
    write_accuracies(folder, "$mine$", "cnn/default", [0.5], parameters=70)
    write_accuracies(folder, "$mine$", "none/default", [0.5], parameters=0)
    return read_results(folder)


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
    assert make_sizes(PAPER, groups).draw().startswith(b"\x89PNG")
    # a logarithm has no place for none
    assert list(find_points(PAPER, groups)["$mine$"]) == ["cnn/default"]
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
