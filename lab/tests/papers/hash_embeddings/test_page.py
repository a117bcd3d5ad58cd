import sys
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from lab.papers.hash_embeddings.layouts import (
    ENSEMBLE,
    HASH,
    HASH_DICTIONARY,
)
from lab.papers.hash_embeddings.page import (
    make_page,
    write_hash_embeddings,
)

from ...trials.test_results import write_result
from ..test_report import NONE, get_section, parse, read_markdown_tables
from .test_importance import make_row, make_table
from .test_importance import write as write_importance
from .trials import write_accuracies


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results, to read only."""
    folder = tmp_path_factory.mktemp("results") / "metrics"
    write_accuracies(folder, "ag_news", HASH, [0.93, 0.931, 0.932])
    write_accuracies(folder, "ag_news", ENSEMBLE, [0.91])
    write_accuracies(folder, "yahoo_answers", HASH_DICTIONARY, [0.719] * 3)
    path = folder.joinpath("ag_news", *HASH_DICTIONARY, "importance.json")
    write_importance(path, make_table(smallest=[make_row("<b>|_x")]))
    write_result(folder, "anem", "multi_embed", "default")
    return folder


@pytest.fixture(scope="module")
def page(results):
    # a folder without corpora
    return make_page(results, corpus_root=results)


@pytest.fixture(scope="module")
def html(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("html") / "page.html"
    write_hash_embeddings(page, path)
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    return path.read_text(encoding="utf8")


@pytest.fixture(scope="module")
def markdown(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("markdown") / "page.md"
    write_hash_embeddings(page, path)
    picture = path.parent / "page_figures/parameters.png"
    assert picture.read_bytes() == page.picture
    return path.read_text(encoding="utf8")


def test_html_has_every_table_and_is_self_contained(html):
    checked = parse(html)
    anchors = [value for name, value in checked.attributes if name == "id"]
    tables = [a for a in anchors if a.startswith("table") and a != "tables"]
    assert tables == [f"table{number}" for number in (1, 2, 3, 4)]
    links = [value for name, value in checked.attributes if name == "href"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    (image,) = [value for name, value in checked.attributes if name == "src"]
    assert image.startswith("data:image/png;base64,")


def test_html_cells_have_ours_the_seeds_the_mark_and_the_papers(html):
    rows = get_section(html, "table2")
    assert rows[0] == ["", "Without dictionary", "With dictionary"]
    assert rows[1] == ["Hash emb.", "Std. emb.", "Hash emb.", "Std. emb.", "Ensemble"]
    ag_news = next(row for row in rows if row[0] == "AG's News")
    assert ag_news[1] == "93.1 ± 0.1 (3) ▲92.4"
    assert ag_news[2] == f"{NONE}92.0"
    assert ag_news[5] == "91.0 (1)92.0"
    yahoo = next(row for row in rows if row[0] == "Yahoo! Answers")
    assert yahoo[3] == "71.9 ± 0.0 (3) ▲71.3"
    rows = get_section(html, "table3")
    row = next(row for row in rows if row[0] == "Hash embeddings (dict.)")
    assert row[6] == "71.9 ± 0.0 (3)71.9"
    # what is not ours to run is no gap
    row = next(row for row in rows if row[0].startswith("Virt. adv. net."))
    assert row[1:] == ["", "", "99.2", "", "", "", "", "", ""]
    rows = get_section(html, "table4")
    assert rows[-1][2:] == ["what_a_joke (+2), awful", "<b>|_x"]


def test_markdown_has_the_same(markdown):
    tables = read_markdown_tables(markdown)
    for number in (1, 2, 3):
        rows = tables[f"Table {number}"]
        assert {len(row) for row in rows} == {len(rows[0])}
    ag_news = next(row for row in tables["Table 2"] if row[0] == "AG's News")
    assert ag_news[1] == "93.1 ± 0.1 (3) ▲ / 92.4"
    row = next(row for row in tables["Table 3"] if row[0].startswith("char-CNN"))
    assert row[1:3] == ["", "/ 87.2"]
    rendered = MarkdownIt("commonmark").enable("table").render(markdown)
    rows = parse(rendered.replace(" />", ">")).rows
    assert ["what_a_joke (+2), awful", "<b>|_x"] in [row[2:] for row in rows]
    assert "](<page_figures/parameters.png>)" in markdown
    assert "\n\n\n\n" not in markdown


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_the_page_says_what_is_in_it(name, page, results, request):
    text = request.getfixturevalue(name)
    assert "from 7 trials of text classifiers" in text
    assert str(results) in text
    assert f"{page.differences}. Chance alone marks" in text
    assert "python -m lab importance training/ag_news_small/" in text
    assert "python -m lab sweep ngrams --embedders textcat_bow --variants" in text
    assert "has no trials on AG's News, DBPedia, " in unescape(text)


def test_it_counts_what_differs_in_tables_1_and_2(page):
    # table 3 repeats table 2, where the paper does not contradict itself
    assert page.differences == "2 of 3 scores differ from the paper"
    assert page.n_results == 7
    assert page.misnamed == []


def test_results_of_entities_are_left_out(results, tmp_path):
    steps: list[str] = []
    make_page(results, corpus_root=tmp_path, on_progress=steps.append)
    assert steps == [
        "Leaving out the results of named entities: 1",
        "Drawing figures",
        f"None of the paper's corpora in '{tmp_path}': table 1 has no counts",
    ]
    write_result(tmp_path, "anem", "multi_embed", "default")
    message = (
        "no results of text classifiers in .*'hash-embeddings' is about, only 1 of "
        r"named entities\. .*: --paper multi-hash-embeddings or --paper why-attention"
    )
    with pytest.raises(FileNotFoundError, match=message):
        make_page(tmp_path)


def test_results_that_fill_no_table_make_a_page_of_gaps(tmp_path):
    write_accuracies(tmp_path, "mine", ("cnn", "default"), [0.5], parameters=0)
    page = make_page(tmp_path, corpus_root=tmp_path)
    assert page.picture is None
    assert page.differences == "No figure can be compared with the paper's"
    for name in ("page.html", "page.md"):
        write_hash_embeddings(page, tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf8")
        assert "Not drawn: no trial has an accuracy and parameters" in text
    assert not (tmp_path / "page_figures").exists()


def test_without_matplotlib_the_extra_is_named(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    steps: list[str] = []
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[report\]'"):
        make_page(results, on_progress=steps.append)
    # before any work
    assert steps == []
