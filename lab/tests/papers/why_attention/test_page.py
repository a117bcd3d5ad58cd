import sys
from html import unescape
from pathlib import Path

import pytest
from jinja2 import Template
from markdown_it import MarkdownIt

from lab.papers.why_attention.page import make_page, write_why_attention

from ...trials.test_results import write_categories, write_result
from ..test_report import MINUS, NONE, get_section, parse, read_markdown_tables
from .trials import make_ablation, make_attention, write_beside, write_f1

CHAR_CNN, HASH = "bilstm_char_cnn", "bilstm_token_ner"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results, to read only."""
    folder = tmp_path_factory.mktemp("results") / "metrics"
    parts = {"type": {"location": (0.5, 3)}, "length": {"1": (0.5, 3)}}
    better = {"type": {"location": (0.75, 3)}, "length": {"1": (0.75, 3)}}
    write_f1(folder, "wnut17", (CHAR_CNN, "baseline"), [0.25, 0.27], parts=parts)
    write_f1(folder, "wnut17", (CHAR_CNN, "default"), [0.43, 0.43], parts=better)
    write_f1(folder, "conll2002_es", (HASH, "att"), [0.75])
    beside = folder / "wnut17" / CHAR_CNN / "att"
    write_beside(beside / "ablation.json", make_ablation())
    write_beside(beside / "attention.json", make_attention())
    write_result(folder, "anem", "multi_embed", "default")
    return folder


@pytest.fixture(scope="module")
def page(results):
    # a folder without corpora
    return make_page(results, corpus_root=results)


@pytest.fixture(scope="module")
def html(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("html") / "page.html"
    write_why_attention(page, path)
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    return path.read_text(encoding="utf8")


@pytest.fixture(scope="module")
def markdown(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("markdown") / "page.md"
    write_why_attention(page, path)
    picture = path.parent / "page_figures/attention1.png"
    assert picture.read_bytes() == page.pictures[0].png
    return path.read_text(encoding="utf8")


def test_html_has_every_table_and_is_self_contained(html):
    checked = parse(html)
    anchors = [value for name, value in checked.attributes if name == "id"]
    tables = [a for a in anchors if a.startswith("table") and a != "tables"]
    assert tables == [f"table{number}" for number in (1, 2, 3, 4, 5)]
    links = [value for name, value in checked.attributes if name == "href"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    (image,) = [value for name, value in checked.attributes if name == "src"]
    assert image.startswith("data:image/png;base64,")


def test_html_cells_have_ours_the_seeds_the_mark_and_the_papers(html):
    rows = {row[0]: row for row in get_section(html, "table1")}
    assert rows["Baseline-BiLSTM-CNN"][5:8] == [
        "50.00 ± 0.00 (2) ▼53.24",
        "50.00 ± 0.00 (2) ▲32.93",
        "26.00 ± 1.00 (2) ▼40.68 ± 1.78",
    ]
    assert rows["Baseline-BiLSTM-CNN"][2] == f"{NONE}88.37"
    # what is not ours to run is no gap
    assert rows["CRF-IDCNN (Strubell et al. 2017)"][1:5] == ["", "", "", "86.84 ± 0.19"]
    for number, name, printed in ((3, "location", "+8.6"), (4, "1", "+1.7")):
        rows = get_section(html, f"table{number}")
        row = next(row for row in rows if row[:2] == ["WNUT 2017", name])
        assert row[2:5] == ["3", f"+25.0 ± 0.0 (2) ▲{printed}", f"{NONE}{row[4][1:]}"]
    ours = get_section(html, "table5")[-1]
    assert ours[:7] == [
        *("WNUT 2017, dev", "Att-BiLSTM-CNN", "E", "7", "50.00", "+25.00", NONE)
    ]
    assert ours[-1] == f"{MINUS}25.00"


def test_markdown_has_the_same(markdown):
    tables = read_markdown_tables(markdown)
    for number in (1, 2, 3, 4, 5):
        rows = tables[f"Table {number}"]
        assert {len(row) for row in rows} == {len(rows[0])}
    rows = {row[0]: row for row in tables["Table 1"]}
    assert rows["Baseline-BiLSTM-CNN"][7] == "26.00 ± 1.00 (2) ▼ / 40.68 ± 1.78"
    row = next(row for row in tables["Table 5"] if row[2] == "I")
    assert row[4:6] == ["/ 90.09", f"/ {MINUS}28.18"]
    rendered = MarkdownIt("commonmark").enable("table").render(markdown)
    rows = parse(rendered.replace(" />", ">")).rows
    assert ["WNUT 2017", "location"] in [row[:2] for row in rows]
    assert "](<page_figures/attention1.png>)" in markdown
    assert "\n\n\n\n" not in markdown


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_the_page_says_what_is_in_it(name, page, results, request):
    text = unescape(request.getfixturevalue(name))
    assert "from 5 trials of the grid" in text
    assert str(results) in text
    assert f"{page.differences}. With three seeds" in text
    assert "What each head of Att-BiLSTM-CNN attends to" in text
    assert "--ablation --against training/wnut17/bilstm_char_cnn/baseline/" in text
    assert 'the White house Saturday with Israeli and Palestinian negotiators"' in text
    assert "400-dimensional ones of Twitter" in text
    sweep = "python -m lab sweep encoders --embedders bilstm_ner --variants att"
    assert sweep in text
    assert "has no trials on OntoNotes 5.0." in text


def test_it_counts_what_differs(page):
    # Precision, recall and F1 of two trials, of which the F1 of one is nearly the
    # paper's; locations, and mentions of one token
    assert page.differences == "7 of 8 scores differ from the paper"
    assert page.n_results == 5
    assert page.misnamed == []
    assert list(page.tables) == [1, 2, 3, 4, 5]
    assert [row.stub[0] for row in page.overview.rows] == [
        *("WNUT 2017", "WNUT 2017", "CoNLL es")
    ]


def test_other_results_are_left_out(results, tmp_path):
    steps: list[str] = []
    make_page(results, corpus_root=tmp_path, on_progress=steps.append)
    assert steps == [
        "Leaving out trials that the grid 'encoders' lacks: 1",
        "Drawing figures",
        f"None of the paper's corpora in '{tmp_path}': table 2 has no counts",
    ]
    write_categories(tmp_path, "ag_news", "ngrams", "default")
    message = (
        "no results of named entities in .*'why-attention' is about, only 1 of text "
        r"classifiers\. .*: --paper hash-embeddings\."
    )
    with pytest.raises(FileNotFoundError, match=message):
        make_page(tmp_path)


def test_results_that_fill_no_table_make_a_page_of_gaps(tmp_path):
    write_result(tmp_path, "wnut17", "multi_embed", "default")
    page = make_page(tmp_path, corpus_root=tmp_path)
    assert (page.n_results, page.pictures) == (0, [])
    assert page.differences == "No figure can be compared with the paper's"
    for name in ("page.html", "page.md"):
        write_why_attention(page, tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf8")
        assert "Nothing yet." in text
        assert "Not drawn: no weights are there yet." in text
        assert "python -m lab attention training/" in text
    assert not (tmp_path / "page_figures").exists()


def test_the_corpora_that_are_there_are_counted(results, tiny_corpus, tmp_path):
    (tmp_path / "wnut17").symlink_to(tiny_corpus)
    page = make_page(results, corpus_root=tmp_path)
    assert "of 6 counts of the corpora differ" in page.differences


def test_without_matplotlib_the_extra_is_named(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    steps: list[str] = []
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[report\]'"):
        make_page(results, on_progress=steps.append)
    # before any work
    assert steps == []


def test_a_page_that_fails_leaves_its_pictures_alone(page, tmp_path, monkeypatch):
    output = tmp_path / "page.md"
    write_why_attention(page, output)
    picture, *_ = (tmp_path / "page_figures").iterdir()
    picture.write_bytes(b"older")

    def fail(*args: object, **settings: object) -> None:
        raise ValueError("no text")

    monkeypatch.setattr(Template, "render", fail)
    with pytest.raises(ValueError, match="no text"):
        write_why_attention(page, output)
    assert picture.read_bytes() == b"older"


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_halves_of_surrogate_pairs_are_escaped(tmp_path, name):
    write_result(tmp_path, "wnut17", "bilstm_token_ner", "default")
    components = [{"name": "a\ud800", "heads": [[[1, 0], [0, 1]]]}]
    data = make_attention(components=components)
    write_beside(tmp_path / "wnut17/bilstm_token_ner/default/attention.json", data)
    write_why_attention(make_page(tmp_path), tmp_path / name)
    assert "a\\ud800" in (tmp_path / name).read_text(encoding="utf8")
