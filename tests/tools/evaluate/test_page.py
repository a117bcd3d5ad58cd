"""What an evaluation is shown as: a page, Markdown, and tables in a terminal."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from spacy.tokens import Doc

from spacy_hashembeds.tools.display import Table
from spacy_hashembeds.tools.evaluate.confusions import quote_error
from spacy_hashembeds.tools.evaluate.evaluate import Evaluation, evaluate

from ... import toy_ner


class Page:
    """A page, or Markdown rendered, whose tags are all closed in order."""

    def __init__(self, text: str) -> None:
        root = ElementTree.fromstring(text)
        self.tags = {each.tag for each in root.iter()}
        self.marks = [
            (mark.get("class"), " ".join(mark.itertext())) for mark in root.iter("mark")
        ]
        self.text = "".join(root.itertext())


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
    rendered = MarkdownIt("commonmark").enable("table").render(evaluation.to_markdown())
    return f"<body>{rendered}</body>"


def test_the_page_needs_nothing_but_itself_and_fits_a_phone(evaluation):
    page = evaluation.to_html()
    assert Page(page).tags.isdisjoint({"script", "link", "img", "iframe"})
    assert not re.search(r"url\(|@import|https?:|\bsrc=|\bon\w+=", page)
    assert "width=device-width" in page
    # tables scroll, each in a box of its own
    assert page.count('<div class="scroll"><table>') == page.count("<table>") > 8
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
    assert len(tables) > 8
    for table in tables[:-1]:  # the last are confusions
        for page in shown:
            assert f"\n{table.title}" in page.text
            assert {str(row[0]) for row in table.rows} <= {*page.text.splitlines()}
    for confusion in evaluation["confusions"]:
        assert f"{confusion['error']} {confusion['count']}" in shown[0].text
        for example in confusion["examples"]:
            assert example["text"].split()[0] in shown[0].text


def test_differences_are_of_this_pipeline_and_the_other():
    golds = [toy_ner.make_doc(text) for text in toy_ner.TEST]
    nlp = toy_ner.make_ruler({"Oslo": "LOC"}, None)
    parts = evaluate(golds, golds, against=nlp, samples=9).get_parts()
    tables = (part for part in parts if isinstance(part, Table))
    (table,) = (table for table in tables if table.title.startswith("Against"))
    scores = [float(cell) for cell in table.rows[2][2:5]]
    assert table.rows[2][:2] == ("All", "F")
    assert scores[0] == 100 > scores[1]
    assert scores[2] == pytest.approx(scores[0] - scores[1])


def test_seen_entities_are_explained_where_they_are_told_apart(evaluation):
    assert "An entity is seen if" in evaluation.to_html()
    alone = run(toy_ner.make_test_docs(), train=None)
    for form in (alone.to_html(), alone.to_markdown()):
        assert not re.search("(?i)seen", form)
    assert (alone["ents_seen_f"], alone["groups"]) == (None, {})
    assert alone["setting"]["shared"] is None


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


def test_of_predictions_that_begin_alike_the_error_is_shown():
    evaluation = run([toy_ner.make_doc("Dora|PER Anna|LOC")])
    (error,) = (e for e in evaluation["confusions"] if e["error"] == "type")
    evaluation["confusions"] = [error]
    mark = {"start": 0, "end": 4, "label": "PER", "is_error": False}
    wrong = {**mark, "end": 3, "is_error": True}
    error["examples"][0]["predicted"] = [mark, wrong, {**mark, "start": 3}]
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
    assert page.tags.isdisjoint({"script", "b", "i"})
    for shown in ("<script>model", "=<b>|*x*\\u202e", "None of <b>these", "<i>&"):
        assert shown in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_an_error_is_quoted_among_what_is_near():
    text = f"{'w ' * 20}Anna Brown sings of love and nothing else"
    mark = {"start": 40, "end": 50, "is_error": True}
    right = {"start": 0, "end": 1, "is_error": False}
    example = {"text": text, "gold": [right, mark], "predicted": [right]}
    confusion = {"gold": "PER", "error": "missed", "examples": [example]}
    assert quote_error(confusion) == "w w w w [Anna Brown] sings of love a"
    example.update(gold=[], predicted=[{**mark, "start": 45}])
    assert quote_error({**confusion, "gold": None}).startswith("w Anna [Brown] sings")


def test_a_summary_has_the_types_that_differ_for_sure(evaluation):
    data = Evaluation(dict(evaluation))
    per_type = dict(data["comparison"]["per_type"])
    found = {label: row["f"] for label, row in per_type.items() if row is not None}
    for label, p_value in zip(found, (0.05, 0.0501), strict=True):
        per_type[label] = {"f": {**found[label], "p_value": p_value}}
    data["comparison"] = {**data["comparison"], "per_type": per_type}
    data["confusions"] = data["confusions"][:1] * 11
    parts = data.get_parts(full=False)
    *tables, confusions = (part for part in parts if isinstance(part, Table))
    rows = {table.title: table.rows for table in tables}
    of_types = next(rows[title] for title in rows if "F1 by type" in title)
    assert [row[0] for row in of_types] == [next(iter(found))]
    assert len(next(rows[title] for title in rows if "Against" in title)) == 9
    assert len(confusions.rows) == 10
    assert "Entities by type" not in rows
    *_, last = (part for part in data.get_parts() if isinstance(part, Table))
    assert len(last.rows) == 10
