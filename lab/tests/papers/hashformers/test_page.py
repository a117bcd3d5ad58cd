import sys
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from lab.papers.hashformers.layouts import EMBEDDER
from lab.papers.hashformers.page import make_page, write_hashformers
from lab.papers.layouts import Trials

from ...trials.test_results import write_categories, write_result
from ..test_report import NONE, get_section, parse, read_markdown_tables
from .trials import write_f1, write_pair

ANCHORS = ("table1", "table2", "table3", "table4", "table5")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results, to read only."""
    folder = tmp_path_factory.mktemp("results") / "metrics"
    write_pair(folder)
    write_f1(folder, "conll2002_es", Trials(EMBEDDER, "md5_pool"), [0.7])
    write_result(folder, "anem", "multi_embed", "default")
    return folder


@pytest.fixture(scope="module")
def page(results):
    return make_page(results)


@pytest.fixture(scope="module")
def html(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("html") / "page.html"
    write_hashformers(page, path)
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    return path.read_text(encoding="utf8")


@pytest.fixture(scope="module")
def markdown(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("markdown") / "page.md"
    write_hashformers(page, path, figures=path.parent / "figures")
    # there are none
    assert [file.name for file in path.parent.iterdir()] == ["page.md"]
    return path.read_text(encoding="utf8")


def test_html_has_every_table(html):
    checked = parse(html)
    anchors = [value for name, value in checked.attributes if name == "id"]
    found = [a for a in anchors if a.startswith("table") and a != "tables"]
    assert found == list(ANCHORS)
    links = [value for name, value in checked.attributes if name == "href"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    assert not any(name == "src" for name, _ in checked.attributes)


def test_html_cells_have_ours_and_the_papers(html):
    rows = {tuple(row[:2]): row[2:] for row in get_section(html, "ratios")}
    assert rows["WNUT 2017", "LSH Proj"] == [
        *("80.0 ± 16.0 (2)99.5", NONE, "80.0 ± 16.0 (2)", "20"),
        *("30.030.9", "75.099.7", "93.8", "14.30.1", "1.50"),
    ]
    # nothing that it could be compared with
    assert rows["CoNLL es", "MD Pool"] == [
        *(f"{NONE}94.7", NONE, NONE, "320", f"{NONE}30.3", f"{NONE}97.9", NONE),
        *("40.01.0", NONE),
    ]
    rows = {row[0]: row[1:] for row in get_section(html, "table2")}
    assert rows["HashFormers-LSH Proj"] == [
        *("96.7", "99.8", "99.8", "105.0", "96.6", "98.7", "103.1", "99.4", "99.5"),
        *("86.1", "0.0991", "30.9", "99.7", "0.1"),
    ]
    rows = {row[0]: row[1:] for row in get_section(html, "table3")}
    assert rows["HashFormers-Pool"] == ["12.0", "2.1", "4.6", "1.0", "2.0", "2.3"]
    assert rows["CANINE-C"] == ["", "", "6.9", "0.6", "", ""]
    assert get_section(html, "table1")[1][-1] == "79.5 ± 0.4"
    rows = {row[0]: row[1:] for row in get_section(html, "counts")}
    assert rows["Pool"] == ["⌈T/k⌉ + 2^k", "1,037", "796,416", "797.2K", "1,038"]
    rows = {row[0]: row[1:] for row in get_section(html, "table5")}
    assert rows["Adam ε"][0] == "1e-6"
    assert 'class="differs"' not in html


def test_markdown_has_the_same(markdown):
    tables = read_markdown_tables(markdown)
    for name in (
        "All trials",
        "Tables 2 and 3 on named entities",
        *(f"Table {number}" for number in range(1, 6)),
    ):
        rows = tables[name]
        assert {len(row) for row in rows} == {len(rows[0])}, name
    rows = {row[1]: row for row in tables["Tables 2 and 3 on named entities"]}
    assert rows["LSH Proj"][2] == "80.0 ± 16.0 (2) / 99.5"
    rendered = MarkdownIt("commonmark").enable("table").render(markdown)
    rows = parse(rendered.replace(" />", ">")).rows
    # with the bars of its formula
    assert ["BERT", "|V|"] in [row[:2] for row in rows]
    assert "\n\n\n\n" not in markdown


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_the_page_says_what_is_in_it(name, results, request):
    text = unescape(request.getfixturevalue(name))
    assert "and 5 trials of its embeddings under" in text
    assert str(results) in text
    for note in ("the first one is Pool", "Four do not", "6.9 ms of CANINE-C"):
        assert note in text
    assert "sweep hashformers --embedders hash_former_embed --variants lsh_add" in text
    assert "sweep num_hashes --datasets conll2002_es,wnut17 --embedders multi" in text
    assert "training.optimizer.eps" in text


def test_what_it_counts(page):
    assert page.n_results == 5
    assert page.misnamed == []
    assert page.differences == "The paper's figures are of GLUE, ours of named entities"
    assert list(page.tables) == [1, 2, 3]
    assert list(page.hyperparameters) == [4, 5]


def test_other_results_are_left_out(results, tmp_path):
    steps: list[str] = []
    make_page(results, on_progress=steps.append)
    assert steps == ["Leaving out trials of other embedders: 1"]
    write_categories(tmp_path, "ag_news", "ngrams", "default")
    message = (
        r"no results of named entities in .*'hashformers' is about, only 1 of text"
    )
    with pytest.raises(FileNotFoundError, match=message):
        make_page(tmp_path)


def test_results_of_others_make_a_page_of_the_papers_alone(tmp_path):
    write_result(tmp_path, "wnut17", "multi_embed", "default")
    page = make_page(tmp_path)
    assert page.n_results == 0
    assert len(page.missing) == 10
    for name in ("page.html", "page.md"):
        write_hashformers(page, tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf8")
        assert text.count("Nothing yet.") == 2
        assert "105.9" in text


def test_it_needs_no_matplotlib(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    write_hashformers(make_page(results), tmp_path / "page.html")
    assert (tmp_path / "page.html").is_file()


def test_what_can_not_be_used_is_refused(results, page, tmp_path):
    with pytest.raises(FileNotFoundError, match="folder of prepared corpora"):
        make_page(results, corpus_root=tmp_path / "gone")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        make_page(tmp_path / "gone")
    with pytest.raises(ValueError, match=r"should end in \.html"):
        write_hashformers(page, tmp_path / "page.pdf")


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_names_are_escaped(tmp_path, name):
    write_f1(tmp_path, "a|<b>", Trials(EMBEDDER, "c|<d>"), [0.5])
    write_hashformers(make_page(tmp_path), tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf8")
    assert "<b>" not in text
    assert "<d>" not in text
