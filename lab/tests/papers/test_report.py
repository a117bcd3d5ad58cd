import base64
import re
import sys
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from lab.papers.report import make_report, write_report

from ..trials.test_results import write_categories, write_result, write_seeds

HASH, FEWER, LOOKUP = "multi_hash_embed", "multi_fewer_hash_embed", "multi_embed"
NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results, to read only."""
    folder = tmp_path_factory.mktemp("results") / "metrics"
    for seed, f in enumerate((0.53, 0.54, 0.55)):
        test = {"ents_f": f, "ents_p": 0.9, "ents_seen_support": 0}
        write_result(folder, "anem", HASH, "default", seed, {"test": test})
    write_seeds(folder, "anem", LOOKUP, "default", [0.3])
    write_seeds(folder, "anem", FEWER, "default", [0.52, 0.5])
    write_seeds(folder, "anem", FEWER, "seed9", [0.32, 0.3])
    return folder


@pytest.fixture(scope="module")
def report(results):
    # a folder without corpora
    return make_report(results, corpus_root=results)


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


def get_section(html: str, anchor: str) -> list[list[str]]:
    section = html.split(f'<section id="{anchor}">')[1].split("</section>")[0]
    return parse(section).rows


def test_html_has_every_table_and_is_self_contained(report, tmp_path):
    path = tmp_path / "out/report.html"
    write_report(report, path)
    html = path.read_text(encoding="utf8")
    page = parse(html)
    anchors = [value for name, value in page.attributes if name == "id"]
    assert [f"table{n}" for n in range(1, 18)] == [
        a for a in anchors if a.startswith("table") and a != "tables"
    ]
    links = [value for name, value in page.attributes if name == "href"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    images = [value for name, value in page.attributes if name == "src"]
    assert len(images) == 4
    for image in images:
        kind, data = image.split(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data).startswith(b"\x89PNG")
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]


def test_html_cells_have_ours_the_seeds_the_mark_and_the_reports(report, tmp_path):
    write_report(report, tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf8")
    rows = get_section(html, "table9")
    assert rows[0] == ["", "MultiHashEmbed", "MultiEmbed"]
    assert rows[1] == ["Precision", "Recall", "F1-score"] * 2
    anem = next(row for row in rows if row[0] == "AnEM")
    assert anem[1] == "90.0 ± 0.0 (3) ▲60 ± 1"
    assert anem[3] == "54.0 ± 0.8 (3)54 ± 1"
    assert anem[6] == "30.0 (1) ▼44 ± 1"
    assert next(row for row in rows if row[0] == "OntoNotes")[1] == f"{NONE}82 ± 1"
    assert 'class="differs">90.0' in html
    rows = get_section(html, "table3")
    assert rows[0][:5] == ["ORTH", "NORM", "PREFIX", "SUFFIX", "SHAPE"]
    percentages = [f"{NONE}{text}" for text in ("+4%", f"{MINUS}31%", "+3%")]
    assert rows[3] == ["", "✓", "✓", "✓", "", *percentages]
    rows = get_section(html, "table5")
    assert rows[1][4:6] == [f"{NONE}2.25", f"{NONE}31.8"]
    rows = get_section(html, "seeds")
    assert rows[1] == [
        "AnEM",
        "all",
        "51.0 ± 1.0 (2)",
        "31.0 ± 1.0 (2)",
        f"{MINUS}20.0 ± 1.4 (2) ▼",
    ]
    rows = get_section(html, "overview")
    assert rows[2] == [
        *("AnEM", HASH, "default", "54.0 ± 0.854 ± 1", NONE),
        *("50.0 ± 0.0 ▲21 ± 2", "3", "1,000", "2.50"),
    ]


def test_footnotes_and_missing_trials_are_said(report, tmp_path):
    write_report(report, tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf8")
    assert "23 here and 27 in table 15" in html
    missing = parse(
        html.split('id="missing">Missing trials</h2>')[1].split("</body>")[0]
    ).rows
    row = next(row for row in missing if row[:2] == [LOOKUP, "default"])
    names = "CoNLL es, CoNLL nl, WNUT2017, Archeology, AnEM (1 of 3 seeds there), "
    names += "OntoNotes"
    assert row[2] == names
    assert next(row for row in missing if row[1] == "min_freq5")[2] == "all 6"
    grid = "main"
    assert row[3:] == [
        "9, 10, 11, 15",
        f"python -m lab sweep {grid} --embedders multi_embed --variants default",
    ]
    row = next(row for row in missing if row[:2] == [HASH, "default"])
    datasets = "conll2002_es,conll2002_nl,wnut17,archaeology,ontonotes"
    assert f"{grid} --datasets {datasets} --embedders {HASH} --variants" in row[4]
    assert "Figure 7.</strong>" in html
    assert "Not drawn: there are no trials for it yet." in html


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_the_first_lines_say_what_is_in_it(name, report, results, tmp_path):
    write_report(report, tmp_path / name)
    text = (tmp_path / name).read_text(encoding="utf8")
    assert "from 8 trials" in text
    assert str(results) in text
    # the output that was given is not known to it
    assert f"-o {name}" not in text
    assert f"{report.differences}. Chance alone marks" in text


def test_headings_of_groups_span_only_their_columns(report, tmp_path):
    write_report(report, tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf8")
    head = html.split('<section id="overview">')[1].split("</tr>")[0]
    assert re.findall(r'<th class="group" colspan="(\d)".*?<span>(.*?)<', head) == [
        ("3", "F1-score")
    ]
    assert re.findall(r'<td colspan="(\d)"></td>', head) == ["3"]


def test_names_are_escaped(report, tmp_path):
    odd = replace(report, source=Path("a<b>&c"))
    write_report(odd, tmp_path / "x.html")
    html = (tmp_path / "x.html").read_text(encoding="utf8")
    assert "a&lt;b&gt;&amp;c" in html
    assert "a<b>" not in html


def read_markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """The cells of each table, by the heading above it."""
    tables, heading = {}, ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            tables.setdefault(heading, []).append(cells)
    return tables


def test_markdown_has_the_same(report, tmp_path):
    path = tmp_path / "report.md"
    write_report(report, path)
    text = path.read_text(encoding="utf8")
    tables = read_markdown_tables(text)
    for number in range(1, 18):
        rows = tables[f"Table {number}"]
        assert {len(row) for row in rows} == {len(rows[0])}
        assert all(re.fullmatch("-+:?", cell) for cell in rows[1])
    header, _, *rows = tables["Table 9"]
    assert header[1] == "MultiHashEmbed: Precision"
    anem = next(row for row in rows if row[0] == "AnEM")
    assert anem[1] == "90.0 ± 0.0 (3) ▲ / 60 ± 1"
    assert rows[-1][1] == f"{NONE} / 82 ± 1"
    assert "- The report contradicts itself" in text
    assert not re.search(r"\n{4}", text)


ODD = "a|b *c* _d_ `e` <f> [g](h) i\\j &amp; k_l"


def test_names_are_escaped_in_markdown(report, tmp_path):
    """A renderer gives back what was meant, in a table and outside."""
    rows = [replace(report.overview.rows[0], stub=(f"{ODD}\n{ODD}", HASH, "_x_"))]
    odd = replace(
        report,
        source=Path(f"``{ODD}\n"),
        overview=replace(report.overview, rows=rows, stub=("|", "*", "_")),
    )
    write_report(odd, tmp_path / "x.md", figures=tmp_path / "a>b\n(c)%41é")
    text = (tmp_path / "x.md").read_text(encoding="utf8")
    html = MarkdownIt("commonmark").enable("table").render(text)
    page = parse(html.replace(" />", ">"))
    assert [f"{ODD} {ODD}", HASH, "_x_"] in [row[:3] for row in page.rows]
    assert ["|", "*", "_"] in [row[:3] for row in page.rows]
    assert f"<code>``{escape(ODD)}</code>" in html
    images = [unquote(value) for name, value in page.attributes if name == "src"]
    assert images[0] == "a>b\n(c)%41é/figure3.png"
    assert HASH in text


def test_markdown_links_its_figures(report, tmp_path):
    write_report(report, tmp_path / "my report.md")
    text = (tmp_path / "my report.md").read_text(encoding="utf8")
    links = re.findall(r"!\[Figure \d\]\(<(.*)>\)", text)
    assert links == [f"my report_figures/figure{n}.png" for n in (3, 4, 5, 6)]
    for link in links:
        assert (tmp_path / link).read_bytes().startswith(b"\x89PNG")
    figures = tmp_path / "pictures"
    write_report(report, tmp_path / "docs/report.md", figures=figures)
    text = (tmp_path / "docs/report.md").read_text(encoding="utf8")
    assert "](<../pictures/figure3.png>)" in text
    assert (figures / "figure6.png").is_file()


def test_html_has_its_figures_beside_it_too_if_asked(report, tmp_path):
    write_report(report, tmp_path / "report.html", figures=tmp_path / "png")
    names = sorted(file.name for file in (tmp_path / "png").iterdir())
    assert names == [f"figure{n}.png" for n in (3, 4, 5, 6)]
    assert (tmp_path / "png/figure3.png").read_bytes() == report.figures[3]


def test_results_that_fill_no_table_make_a_report_of_gaps(tmp_path):
    write_result(tmp_path / "metrics", "demo", LOOKUP, "default")
    report = make_report(tmp_path / "metrics", corpus_root=tmp_path)
    assert (report.n_results, report.figures) == (1, {})
    assert report.differences == "No figure can be compared with the report's"
    for name in ("report.html", "report.md"):
        write_report(report, tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf8")
        assert "Nothing yet." in text
        assert "77 ± 0" in text
    assert not (tmp_path / "report_figures").exists()


def test_it_counts_what_differs(report):
    # By hand: tables 9, 11, 13, and 15, whose MHE (0.78) is table 13's with 4 hashes;
    # table 10 repeats table 9's MultiEmbed. No deviation is known in table 15.
    differ, compared = 4 + 6 + 2 + 0, 6 + 6 + 2 + 1
    expected = f"{differ} of {compared} scores differ from the report"
    assert report.differences == expected


def test_scores_and_counts_are_kept_apart(results, tiny_corpus, tmp_path):
    (tmp_path / "wnut17").symlink_to(tiny_corpus)
    report = make_report(results, corpus_root=tmp_path)
    # tables 4 and 6 have four columns, table 5 has seven that are counted
    counts = r"\d+ of 15 scores and (\d+) of 15 counts of the corpora differ"
    match = re.fullmatch(f"{counts} from the report", report.differences)
    assert match is not None
    tables = [report.tables[number] for number in (4, 5, 6)]
    cells = [
        cell for table in tables for row in table.rows for cell in row.cells.values()
    ]
    assert int(match[1]) == sum(cell.differs for cell in cells) > 0
    write_report(report, tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf8")
    assert f"{report.differences}. Archeology's counts can't all be equal" in text


def test_a_folder_of_corpora_that_is_named_must_be_there(results, tmp_path):
    message = f"'corpus_root' should be a folder .* there is no '{tmp_path / 'gone'}'"
    with pytest.raises(FileNotFoundError, match=message):
        make_report(results, corpus_root=tmp_path / "gone")


def test_a_line_says_that_there_are_no_corpora(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = []
    report = make_report(results, on_progress=lines.append)
    assert (
        "None of the report's corpora in 'corpus': tables 4 to 6 have no counts"
        in lines
    )
    assert report.collisions.rows == []


def test_other_kinds_of_files_are_refused(report, tmp_path):
    for name in ("report.pdf", "report", "report.HTML"):
        with pytest.raises(ValueError, match=r"should end in \.html or \.md, but is"):
            write_report(report, tmp_path / name)
    assert not list(tmp_path.glob("report*"))


def test_without_matplotlib_the_extra_is_named(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    lines = []
    with pytest.raises(ImportError, match=r"pip install 'spacy-hashembeds\[report\]'"):
        make_report(results, corpus_root=tmp_path, on_progress=lines.append)
    # before any work
    assert lines == []


def test_text_classifiers_are_left_out(tmp_path):
    write_categories(tmp_path, "ag_news", "ngrams", "default")
    with pytest.raises(
        FileNotFoundError,
        match=r"only 1 of text classifiers\. .*: --paper hash-embeddings\.",
    ):
        make_report(tmp_path, corpus_root=tmp_path)
    write_result(tmp_path, "anem", HASH, "default")
    steps: list[str] = []
    report = make_report(tmp_path, corpus_root=tmp_path, on_progress=steps.append)
    assert steps[0] == "Leaving out the results of text classifiers: 1"
    assert report.n_results == 1
    assert [row.stub[0] for row in report.overview.rows] == ["AnEM"]
