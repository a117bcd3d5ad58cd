"""What an evaluation is shown as: a page, Markdown, and tables in a terminal."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt
from spacy.tokens import Doc

from spacy_hashembeds.tools.display import Table, render_page
from spacy_hashembeds.tools.evaluate.evaluate import Evaluation, evaluate
from spacy_hashembeds.tools.evaluate.tables import Range, quote_error

from ... import toy_ner


class Page(HTMLParser):
    """Reads a page, checking that its tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.marks: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            self.marks.append((dict(attrs)["class"], ""))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "mark" in self.open:
            state, text = self.marks[-1]
            self.marks[-1] = (state, f"{text} {data}".strip())
        if "style" not in self.open:
            self.text += data


def run(golds, **options: Any) -> Evaluation:
    patterns = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "sings": "<i>&"}
    nlp = toy_ner.make_ruler(patterns, None)
    if "against" in options:
        options["against"] = nlp
    train = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    return evaluate(nlp, golds, **{"train": train, "samples": 50, **options})


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return run(toy_ner.make_test_docs(), against=True)


def read_markdown(evaluation: Evaluation) -> str:
    return MarkdownIt("commonmark").enable("table").render(evaluation.to_markdown())


def test_the_page_needs_nothing_but_itself_and_fits_a_phone(evaluation):
    page = evaluation.to_html()
    tags = Page(page).tags
    assert {tag for tag, _ in tags}.isdisjoint({"script", "link", "img", "iframe"})
    assert not re.search(r"url\(|@import|https?:|\bsrc=|\bon\w+=", page)
    assert "width=device-width" in page
    # tables scroll, each in a box of its own
    assert page.count('<div class="scroll"><table>') == page.count("<table>") > 10
    assert ".hashembeds .scroll { overflow-x: auto;" in page


def test_all_figures_are_on_the_page_and_in_markdown(evaluation):
    shown = [Page(form) for form in (evaluation.to_html(), read_markdown(evaluation))]
    for figures in (page.text.split() for page in shown):
        for prefix in ("ents", "ents_seen", "ents_unseen"):
            for key in "prf":
                assert f"{evaluation[f'{prefix}_{key}'] * 100:.2f}" in figures
                low, high = evaluation[f"{prefix}_{key}_interval"]
                assert f"{low * 100:.1f}..{high * 100:.1f}" in figures
        assert "1.0000" in figures  # p of a pipeline against itself
    tables = [part for part in evaluation.get_parts() if isinstance(part, Table)]
    assert len(tables) > 10
    for table in tables[:-1]:  # the last are confusions
        for page in shown:
            assert f"\n{table.title}" in page.text
            assert {str(row[0]) for row in table.rows} <= {*page.text.splitlines()}
    for confusion in evaluation["confusions"]:
        assert f"{confusion['count']} (" in shown[0].text
        for example in confusion["examples"]:
            assert example["text"].split()[0] in shown[0].text


def test_seen_entities_are_explained_where_they_are_told_apart(evaluation):
    assert "An entity is seen if" in evaluation.to_html()
    alone = run(toy_ner.make_test_docs(), train=None)
    for form in (alone.to_html(), alone.to_markdown()):
        assert not re.search("(?i)seen", form)
    assert (alone["ents_seen_f"], alone["groups"]) == (None, {})
    assert alone["setting"]["shared"] is None


def test_bars_stand_where_figures_are():
    page = Page(run([toy_ner.make_doc("Anna|PER Dora|PER")] * 3).to_html())
    places = [float(attrs["cx"]) for tag, attrs in page.tags if tag == "circle"]
    # From 4 to 156: of all P is 1, R 1/2, F 2/3.
    expected = [pytest.approx(4 + 152 * x, abs=0.06) for x in (1, 1 / 2, 2 / 3)]
    assert places[:3] == expected


@pytest.mark.parametrize(
    ("value", "bounds"), [(0.01, (-0.02, 0.03)), (-0.1, (-0.15, 0.02)), (0.2, None)]
)
def test_differences_are_drawn_around_0(value, bounds):
    """As far as the largest figure of the table."""
    table = Table("a", None, ("", "From-to"), [("F", Range(bounds, value, 0.2))])
    tags = Page(render_page([table])).tags
    lines = [float(attrs["x1"]) for tag, attrs in tags if tag == "line"]
    (dot,) = (float(attrs["cx"]) for tag, attrs in tags if tag == "circle")
    expected = [80 + 76 * x / 0.2 for x in (0, *(bounds or ())[:1], value)]
    assert [*lines[1:], dot] == pytest.approx(expected, abs=0.06)


def test_errors_are_highlighted_among_other_entities():
    docs = [toy_ner.make_doc("Anna|PER saw Rome|LOC with Dora|PER")]
    assert Page(run(docs).to_html()).marks == [
        # Rome, gold and predicted
        *[("", "Anna PER"), ("error", "Rome LOC"), ("", "Dora PER")],
        *[("", "Anna PER"), ("error", "Rome PER")],
        # Dora, gold and predicted
        *[("", "Anna PER"), ("", "Rome LOC"), ("error", "Dora PER")],
        *[("", "Anna PER"), ("", "Rome PER")],
    ]


def test_of_predictions_that_overlap_the_error_is_shown():
    evaluation = run([toy_ner.make_doc("Dora|PER Anna|LOC")])
    (error,) = (e for e in evaluation["confusions"] if e["error"] == "type")
    evaluation["confusions"] = [error]
    (example,) = error["examples"]
    mark = {"start": 0, "end": 4, "label": "PER", "is_error": False}
    wrong = {**mark, "end": 3, "is_error": True}
    example["predicted"] = [mark, wrong, {**mark, "start": 3}]
    marks = Page(evaluation.to_html()).marks
    assert marks[2:] == [("error", "Dor PER"), ("", "a PER")]


@pytest.mark.parametrize("make", [Evaluation.to_html, read_markdown])
def test_texts_and_types_are_escaped(make):
    words = ["<script>", "&amp;", "x", "</mark>", "sings", "{{text}}", "\x1b[2J"]
    ents = ["B-=<b>|*x*\u202e", "I-=<b>|*x*\u202e", *["O"] * 5]
    evaluation = run([Doc(toy_ner.make_doc("x").vocab, words=words, ents=ents)])
    evaluation["setting"]["model"] = "<script>model"
    evaluation["warnings"] = ["None of <b>these"]
    text = make(evaluation)
    page = Page(text)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "b", "i"})
    for shown in ("<script>model", "=<b>|*x*\\u202e", "None of <b>these", "<i>&"):
        assert shown in page.text
    assert "\\x1b" in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


@pytest.mark.parametrize(
    ("room", "shown"),
    [(20, "w2 [Anna Brown] sin"), (28, "w1 w2 [Anna Brown] sings o"), (8, "[Anna …]")],
)
def test_an_error_is_shown_among_what_there_is_room_for(room, shown):
    gold, predicted = ({"start": 6, "end": end, "is_error": True} for end in (16, 10))
    text = "w1 w2 Anna Brown sings of love in Oslo"
    example = {"text": text, "gold": [gold], "predicted": [predicted]}
    assert quote_error(example, room) == shown


def test_a_summary_has_the_types_that_differ_for_sure(evaluation):
    data = Evaluation(dict(evaluation))
    per_type = dict(data["comparison"]["per_type"])
    found = {label: row["f"] for label, row in per_type.items() if row is not None}
    for label, p_value in zip(found, (0.05, 0.0501), strict=True):
        per_type[label] = {"f": {**found[label], "p_value": p_value}}
    data["comparison"] = {**data["comparison"], "per_type": per_type}
    data["confusions"] = data["confusions"][:1] * 11
    parts = data.get_parts(full=False)
    tables = {part.title: part.rows for part in parts if isinstance(part, Table)}
    of_types = next(rows for title, rows in tables.items() if "F1 by type" in title)
    assert [row[0] for row in of_types] == [next(iter(found))]
    assert len(tables["Errors"]) == 5
    assert "Entities by type" not in tables
    *_, last = (part for part in data.get_parts() if isinstance(part, Table))
    assert len(last.rows) == 10
