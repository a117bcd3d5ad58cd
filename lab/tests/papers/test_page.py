"""The pages of all papers, made of one folder of results."""

import re
import sys
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from jinja2 import Template
from markdown_it import MarkdownIt

from lab.papers import PAPERS
from lab.papers.page import make_page, write_page
from lab.papers.paper import read_paper

from ..recorded import write_categories, write_result, write_seeds
from .trials import (
    make_ablation,
    make_attention,
    make_importance,
    write_accuracies,
    write_beside,
    write_f1,
)

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"
NGRAMS, CHAR_CNN = "hash_ngram_textcat", "bilstm_char_cnn"
NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
COUNTING = PAPERS[:3]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results for all papers, to read only."""
    root = tmp_path_factory.mktemp("results") / "metrics"
    for seed, f in enumerate((0.53, 0.54, 0.55)):
        test = {"ents_f": f, "ents_p": 0.9, "ents_seen_support": 0}
        write_result(root, "anem", HASH, "default", seed, {"test": test})
    write_seeds(root, "anem", LOOKUP, "default", [0.3])
    write_seeds(root, "anem", FEWER, "default", [0.52, 0.5])
    write_seeds(root, "anem", FEWER, "seed9", [0.32, 0.3])
    parts = {"type": {"location": (0.5, 3)}, "length": {"1": (0.5, 3)}}
    better = {"type": {"location": (0.75, 3)}, "length": {"1": (0.75, 3)}}
    write_f1(root, "wnut17", f"{CHAR_CNN}/baseline", [0.25, 0.27], parts=parts)
    write_f1(root, "wnut17", f"{CHAR_CNN}/default", [0.43, 0.43], parts=better)
    write_beside(root / f"wnut17/{CHAR_CNN}/att/ablation.json", make_ablation())
    write_beside(root / f"wnut17/{CHAR_CNN}/att/attention.json", make_attention())
    write_f1(root, "wnut17", f"{FEWER}/default", [0.4, 0.6])
    fast = {"tables": 20, "words_per_second": 1500}
    write_f1(root, "wnut17", "hash_former_embed/lsh_proj", [0.4, 0.4], **fast)
    write_accuracies(root, "ag_news", f"{NGRAMS}/default", [0.93, 0.931, 0.932])
    write_accuracies(root, "yahoo_answers", f"{NGRAMS}/dictionary", [0.719] * 3)
    tables = [make_importance("<b>|_x", "y")]
    beside = root / f"ag_news/{NGRAMS}/dictionary/importance.json"
    write_beside(beside, {"tables": tables})
    return root


@pytest.fixture(scope="module", params=PAPERS)
def page(results, request):
    # a folder without corpora
    return make_page(results, request.param, corpus_root=results)


@pytest.fixture(scope="module")
def html(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("html") / "out/page.html"
    write_page(page, path)
    # its figures are inside
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    return path.read_text(encoding="utf8")


@pytest.fixture(scope="module")
def markdown(page, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("markdown") / "my page.md"
    write_page(page, path)
    folder = path.parent / "my page_figures"
    names = {f"{figure.name}.png" for figure in page.figures if figure.draw}
    assert {file.name for file in path.parent.glob("*/*")} == names
    assert all((folder / n).read_bytes().startswith(b"\x89PNG") for n in names)
    return path.read_text(encoding="utf8")


class TagChecker(HTMLParser):
    """Checks that tags are closed in order, and collects the rows of tables."""

    VOID = ("meta", "br", "img", "link")

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "br":
            self.rows[-1][-1] += " / "
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def parse(html: str) -> TagChecker:
    checker = TagChecker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


def render(markdown: str) -> str:
    """Markdown as anybody renders it, and as `parse` wants it."""
    html = MarkdownIt("commonmark").enable("table").render(markdown)
    return html.replace(" />", ">")


def get_values(page: TagChecker, name: str) -> list[str]:
    return [value for key, value in page.attributes if key == name]


def test_html_has_every_table_and_figure_and_links_to_them(page, html):
    checked = parse(html)
    anchors = get_values(checked, "id")
    numbers = [table.number for table in page.tables if table.number is not None]
    assert [a for a in anchors if re.fullmatch(r"table\d+", a)] == [
        f"table{number}" for number in numbers
    ]
    assert len(set(anchors)) == len(anchors)
    inner = [link[1:] for link in get_values(checked, "href") if link[0] == "#"]
    assert set(inner) <= set(anchors)
    assert len(inner) == len(page.sections) + len(numbers)
    images = get_values(checked, "src")
    assert len(images) == len([each for each in page.figures if each.draw])
    assert all(image.startswith("data:image/png;base64,") for image in images)
    for figure in page.figures:
        assert figure.caption in unescape(html)
        assert (f'id="{figure.name}"' in html) == bool(figure.draw)


def test_markdown_has_the_same_figures_as_html(page, html, markdown):
    shown, written = (parse(text).rows for text in (html, render(markdown)))
    n_rows = 0
    for table in page.tables:
        for row in table.rows:
            stub = [" ".join(name.splitlines()) for name in row.stub]
            found = [
                [cell.removeprefix("/ ") for cell in cells[len(stub) :]]
                for rows in (shown, written)
                for cells in rows
                if cells[: len(stub)] == stub
                and len(cells) == len(stub) + len(table.columns)
            ]
            assert len(found) % 2 == 0
            middle = len(found) // 2
            assert found[:middle] == found[middle:] != []
            n_rows += 1
    assert n_rows > 15
    assert not re.search(r"\n{4}", markdown)


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_it_says_what_is_in_it(name, page, results, request):
    text = request.getfixturevalue(name)
    text = unescape(re.sub("<.*?>", "", text)) if name == "html" else text
    assert f"{page.paper.title}, measured again" in text
    assert f"{page.n_results} trials" in text
    assert str(results) in text
    assert f"{page.paper.called}'s" in text
    if not page.paper.incomparable:
        assert f"{page.differences}. " in text
    assert "python -m lab sweep" in text
    for table in page.tables:
        assert table.caption in text
        for note in table.notes:
            assert (note.replace("`", "") if name == "html" else note) in text


def test_what_it_counts(page):
    # By hand. Report: tables 9, 11, 13, and 15, whose MHE is table 13's with 4 hashes;
    # table 10 repeats table 9's MultiEmbed; WNUT has one hash in table 13. Texts: table
    # 3 repeats what it does not contradict. BiLSTMs: P, R and F1 of two trials, of
    # which one F1 is nearly the paper's; locations, and mentions of one token.
    n_results, differences = {
        "multi-hash-embeddings": (16, "13 of 16 scores differ from the report"),
        "hash-embeddings": (6, "2 of 3 scores differ from the paper"),
        "why-attention": (4, "7 of 8 scores differ from the paper"),
        "hashformers": (4, "The paper's figures are of GLUE, ours of named entities"),
    }[page.paper.name]
    assert page.differences == differences
    assert page.n_results == n_results
    assert page.misnamed == []


#: Cells of the pages, as they read there.
CELLS = {
    "multi-hash-embeddings": [
        ("table9", "AnEM", 1, "90.0 ± 0.0 (3) ▲ / 60 ± 1"),
        ("table9", "AnEM", 3, "54.0 ± 0.8 (3) / 54 ± 1"),
        ("table9", "AnEM", 6, "30.0 (1) ▼ / 44 ± 1"),
        ("seed8besideseed9withonehash", "AnEM", 4, f"{MINUS}20.0 ± 1.4 (2) ▼"),
        ("alltrials", "AnEM", 3, "54.0 ± 0.8 / 54 ± 1"),
        ("alltrials", "AnEM", 5, "50.0 ± 0.0 ▲ / 21 ± 2"),
    ],
    "hash-embeddings": [
        ("table2", "AG's News", 1, "93.1 ± 0.1 (3) ▲ / 92.4"),
        ("table2", "AG's News", 2, f"{NONE} / 92.0"),
        ("table2", "Yahoo! Answers", 3, "71.9 ± 0.0 (3) ▲ / 71.3"),
        ("table3", "Hash embeddings (dict.)", 6, "71.9 ± 0.0 (3) / 71.9"),
        # what is not ours to run is no gap
        ("table3", "Virt. adv. net. (Miyato et al. 2016)", 2, ""),
        ("table3", "Virt. adv. net. (Miyato et al. 2016)", 3, "99.2"),
        ("alltrials", "AG's News", 3, "93.1 ± 0.1 ▲ / 92.4"),
    ],
    "why-attention": [
        ("table1", "Baseline-BiLSTM-CNN", 7, "26.00 ± 1.00 (2) ▼ / 40.68 ± 1.78"),
        ("table1", "Baseline-BiLSTM-CNN", 2, f"{NONE} / 88.37"),
        ("table1", "CRF-IDCNN (Strubell et al. 2017)", 4, "86.84 ± 0.19"),
        ("table3", "WNUT 2017", 3, "+25.0 ± 0.0 (2) ▲ / +8.6"),
        ("table4", "WNUT 2017", 3, "+25.0 ± 0.0 (2) ▲ / +1.7"),
        ("table5", "WNUT 2017, dev", 5, "+25.00"),
        ("table5", "OntoNotes 5.0, dev", 5, f"{MINUS}1.68"),
    ],
    "hashformers": [
        ("tables2and3onnamedentities", "WNUT 2017", 5, "320"),
        ("table2", "HashFormers-LSH Proj", 11, "0.0991"),
        ("table2", "HashFormers-LSH Proj", 10, "86.1"),
        ("table3", "CANINE-C", 1, ""),
        ("table3", "HashFormers-Pool", 6, "2.3"),
        ("table5", "Adam ε", 1, "1e-6"),
    ],
}


def test_cells_have_ours_the_seeds_the_mark_and_the_papers(page, html):
    for anchor, name, column, text in CELLS[page.paper.name]:
        section = html.split(f'<section id="{anchor}">')[1].split("</section>")[0]
        row = next(row for row in parse(section).rows if row[0] == name)
        assert row[column] == text, (anchor, name)
    assert ('class="differs"' in html) == (page.paper.name != "hashformers")


def test_headings_of_groups_span_only_their_columns(page, html):
    head = html.split('<section id="alltrials">')[1].split("</tr>")[0]
    spans = re.findall(r'<th class="group" colspan="(\d)".*?<span>(.*?)<', head)
    is_text = page.paper.task == "textcat"
    assert spans == ([] if is_text else [("3", "F1-score")])


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_results_that_fill_no_table_make_a_page_of_them_alone(paper, name, tmp_path):
    write_result(tmp_path / "metrics", "demo", "mine", "default")
    path = write_categories(tmp_path / "metrics", "demo", "texts", "default")
    path.write_text(path.read_text().replace('parameters": 1000', 'parameters": 0'))
    page = make_page(tmp_path / "metrics", paper, corpus_root=tmp_path)
    assert not any(figure.draw for figure in page.figures)
    if not page.paper.incomparable:
        nothing = f"No figure can be compared with {page.paper.called}'s"
        assert page.differences == nothing
    write_page(page, tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf8")
    for gap in ("Nothing yet", "Not drawn", "Missing trials"):
        assert gap not in text
    assert page.n_missing == 0
    if paper == "multi-hash-embeddings":
        assert list(page.sections) == ["Overview"]
        (table,) = page.tables
        assert [row.stub for row in table.rows] == [("demo", "mine", "default")]
    assert not (tmp_path / "page_figures").exists()


def test_without_matplotlib_the_extra_is_named_before_any_work(
    results, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    steps: list[str] = []
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[report\]'"):
        make_page(results, on_progress=steps.append)
    assert steps == []
    # one without figures needs none
    write_page(make_page(results, "hashformers"), tmp_path / "page.html")


@pytest.mark.parametrize("paper", PAPERS)
def test_other_results_are_left_out(paper, results, tmp_path):
    steps: list[str] = []
    make_page(results, paper, corpus_root=tmp_path, on_progress=steps.append)
    is_text = paper == "hash-embeddings"
    kind, n = ("named entities", 16) if is_text else ("text classifiers", 6)
    expected = [f"Leaving out the results of {kind}: {n}"]
    if paper in ("why-attention", "hashformers"):
        expected.append("Leaving out trials that the paper has not: 12")
    if paper in COUNTING:
        corpora = f"None of {read_paper(paper).called}'s corpora"
        expected.append(f"{corpora} in '{tmp_path}': no counts of them")
    assert steps == expected


@pytest.mark.parametrize("paper", PAPERS)
def test_a_folder_of_another_task_names_the_papers_about_it(paper, tmp_path):
    is_text = read_paper(paper).task == "textcat"
    write = write_result if is_text else write_categories
    write(tmp_path, "anem", "x", "default")
    others = [name for name in PAPERS if name != "hash-embeddings"]
    options = others if is_text else ["hash-embeddings"]
    message = (
        f"'{paper}' is about, only 1 of .*: --paper {' or --paper '.join(options)}\\."
    )
    with pytest.raises(FileNotFoundError, match=message):
        make_page(tmp_path, paper)


def test_what_can_not_be_used_is_refused(results, tmp_path):
    message = f"'corpus_root' should be a folder .* there is no '{tmp_path / 'gone'}'"
    with pytest.raises(FileNotFoundError, match=message):
        make_page(results, corpus_root=tmp_path / "gone")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        make_page(tmp_path / "gone")


ODD = "a|b *c* _d_ `e` <f> [g](h) i\\j &amp; k_l"


def test_names_are_escaped(page, tmp_path):
    """A renderer gives back what was meant, in a table and outside."""
    (title, (first, *others)), *rest = [
        (title, [b for b in blocks if not isinstance(b, str)])
        for title, blocks in page.sections.items()
    ]
    row = replace(first.rows[0], stub=(f"{ODD}\n{ODD}", HASH, "_x_")[: len(first.stub)])
    odd = replace(first, rows=[row], stub=("|", "*", "_")[: len(first.stub)])
    sections = {title: [odd, *others], **dict(rest)}
    page = replace(page, source=Path(f"``{ODD}\n"), sections=sections)
    write_page(page, tmp_path / "x.html")
    write_page(page, tmp_path / "x.md", figures=tmp_path / "a>b\n(c)%41é")
    html = (tmp_path / "x.html").read_text(encoding="utf8")
    rendered = render((tmp_path / "x.md").read_text(encoding="utf8"))
    for text, line_end in ((html, "\n"), (rendered, " ")):
        rows = parse(text).rows
        assert f"{ODD}{line_end}{ODD}" in [row[0] for row in rows]
        assert ["|", "*"] in [row[:2] for row in rows]
        assert f"<code>``{escape(ODD, quote=False)}</code>" in text
        assert "<f>" not in text
    for link in get_values(parse(rendered), "src"):
        assert unquote(link).startswith("a>b\n(c)%41é/")


def test_figures_are_where_they_are_asked_for(results, tmp_path):
    page = make_page(results)
    folder = tmp_path / "pictures"
    write_page(page, tmp_path / "docs/report.md", figures=folder)
    text = (tmp_path / "docs/report.md").read_text(encoding="utf8")
    names = [f"figure{number}.png" for number in (3, 4, 5, 6)]
    assert re.findall(r"!\[.*\]\(<(.*)>\)", text) == [f"../pictures/{n}" for n in names]
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert sorted(before) == names
    write_page(page, tmp_path / "report.html", figures=folder)
    # equal results give equal files
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_page_that_fails_leaves_its_figures_alone(results, tmp_path, monkeypatch):
    page = make_page(results, "why-attention")
    write_page(page, tmp_path / "page.md")
    picture, *_ = (tmp_path / "page_figures").iterdir()
    picture.write_bytes(b"older")

    def fail(*args: object, **settings: object) -> None:
        raise ValueError("no text")

    monkeypatch.setattr(Template, "render", fail)
    with pytest.raises(ValueError, match="no text"):
        write_page(page, tmp_path / "page.md")
    assert picture.read_bytes() == b"older"


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_halves_of_surrogate_pairs_are_escaped(tmp_path, name):
    write_result(tmp_path, "wnut17", "bilstm_token_ner", "default")
    components = [{"name": "a\ud800", "heads": [[[1, 0], [0, 1]]]}]
    path = tmp_path / "wnut17/bilstm_token_ner/default/attention.json"
    write_beside(path, make_attention(components=components))
    write_page(make_page(tmp_path, "why-attention"), tmp_path / name)
    assert "a\\ud800" in (tmp_path / name).read_text(encoding="utf8")
