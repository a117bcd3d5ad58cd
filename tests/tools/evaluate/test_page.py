"""Evaluations as HTML, Markdown and tables."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from spacy.tokens import Doc

from spacy_hashembeds.tools.display import Table
from spacy_hashembeds.tools.evaluate.evaluate import Evaluation, evaluate

from ... import toy_ner


class Page:
    """A parsed page; raises if tags are not balanced."""

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
    train = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    return evaluate(nlp, golds, **{"train": train, "samples": 50, **options})


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    golds = toy_ner.make_test_docs()
    return run(golds, against=toy_ner.make_ruler({"Anna": "PER"}, None))


def read_markdown(evaluation: Evaluation) -> str:
    rendered = MarkdownIt("commonmark").enable("table").render(evaluation.to_markdown())
    return f"<body>{rendered}</body>"


def test_the_page_is_self_contained_and_responsive(evaluation):
    page = evaluation.to_html()
    assert Page(page).tags.isdisjoint({"script", "link", "img", "iframe"})
    assert not re.search(r"url\(|@import|https?:|\bsrc=|\bon\w+=", page)
    assert "width=device-width" in page
    # each table scrolls separately
    assert page.count('<div class="scroll"><table>') == page.count("<table>") > 8


def test_the_page_has_all_tables_and_errors(evaluation):
    page, tables = Page(evaluation.to_html()), Page(read_markdown(evaluation))
    assert {*tables.text.split()} <= {*page.text.split()}
    for confusion in evaluation["confusions"]:
        assert f"{confusion['error']} {confusion['count']}" in page.text
        for example in confusion["examples"]:
            assert example["text"].split()[0] in page.text


def test_rows_of_seen_entities_need_some_in_the_test_corpus():
    unseen = run([toy_ner.make_doc("Zoe|PER sings")]).to_markdown()
    assert "No entity in 'examples' was seen in 'train'" in unseen
    assert "| Unseen |" in unseen
    assert not re.search(r"\| Seen \|", unseen)
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


def test_errors_precede_other_predictions_with_the_same_start():
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


def test_the_summary_has_significant_differences(evaluation):
    data = Evaluation(dict(evaluation))
    per_type = dict(data["comparison"]["per_type"])
    found = {label: row["f"] for label, row in per_type.items() if row is not None}
    for label, p_value in zip(found, (0.05, 0.0501), strict=True):
        per_type[label] = {"f": {**found[label], "p_value": p_value}}
    data["comparison"] = {**data["comparison"], "per_type": per_type}
    data["confusions"] = data["confusions"][:1] * 11
    tables = [part for part in data.get_parts(full=False) if isinstance(part, Table)]
    rows = {table.title.partition(",")[0]: table.rows for table in tables}
    assert [row[0] for row in rows["F1 by type"]] == [next(iter(found))]
    assert len(rows["Against en_pipeline"]) == 9
    assert len(rows["Confusions (10 of 11 kinds)"]) == 10
    assert "Entities by type" not in rows
