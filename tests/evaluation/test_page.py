import re
from copy import deepcopy
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds import evaluate as evaluate_in_memory
from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth
from spacy_hashembeds.evaluation.page import _lay_out, render
from spacy_hashembeds.evaluation.tables import Change, Range, ScoreTable

from .. import toy_ner

PHONE = "width=device-width, initial-scale=1"
VOID = {"meta", "br", "line", "circle", "link", "img"}


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
        self.ids = {attrs["id"] for _, attrs in self.tags if "id" in attrs}
        links = (attrs.get("href", "") for tag, attrs in self.tags if tag == "a")
        self.links = [link.removeprefix("#") for link in links]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            self.marks.append((dict(attrs)["class"].split()[-1], ""))
        if tag not in VOID:
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


def evaluate(folder: Path, test: list[Doc], **options) -> dict[str, Any]:
    toy_ner.write_train(folder / "train.spacy")
    toy_ner.write(folder / "test.spacy", test)
    patterns = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "sings": "<i>&"}
    toy_ner.make_ruler(patterns, None).to_disk(folder / "model")
    paths = (folder / name for name in ("model", "test.spacy", "train.spacy"))
    return dict(evaluate_in_depth(*paths, samples=50, **options))


def show(evaluation: dict[str, Any]) -> Page:
    return Page(render(evaluation, is_page=True))


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluated")
    return evaluate(folder, toy_ner.make_test_docs(), against=folder / "model")


@pytest.fixture
def evaluation(evaluated):
    return deepcopy(evaluated)


def test_the_page_needs_nothing_but_itself(evaluation):
    page = render(evaluation, is_page=True)
    parsed = Page(page)
    tags = {tag for tag, _ in parsed.tags}
    assert tags.isdisjoint({"script", "link", "img", "iframe"})
    assert parsed.links
    assert {*parsed.links} <= parsed.ids
    assert not re.search(r"url\(|@import|https?:|\bsrc=|\bon\w+=", page)


def test_all_figures_are_on_the_page(evaluation):
    page = show(evaluation)
    figures = page.text.split()
    for prefix in ("ents", "ents_seen", "ents_unseen"):
        for key in "prf":
            assert f"{evaluation[f'{prefix}_{key}'] * 100:.1f}" in figures
            low, high = evaluation[f"{prefix}_{key}_interval"]
            assert f"{low * 100:.1f}–{high * 100:.1f}" in figures  # noqa: RUF001
    assert "1.0000" in figures  # p of a pipeline against itself
    for confusion in evaluation["confusions"]:
        assert str(confusion["count"]) in figures
        for example in confusion["examples"]:
            assert example["text"].split()[0] in page.text


def test_all_tables_of_the_terminal_are_on_the_page():
    docs = toy_ner.make_test_docs()
    options = {"train": docs, "samples": 50, "show_progress": False}
    nlp = toy_ner.make_ruler({"Anna": "PER", "Oslo": "LOC"}, None)
    evaluation = evaluate_in_memory(nlp, docs, against=nlp, **options)
    page = Page(evaluation.to_html())
    *tables, confusions = evaluation.make_tables()
    assert confusions.title.startswith("Confusions")
    assert len(tables) > 10
    headings = [line for line in page.text.splitlines() if line]
    for table in tables:
        assert table.title in headings
        assert {row[0] for row in table.rows} <= set(headings)
    # and there the groups are divided by type
    assert sum(heading.endswith(", by type") for heading in headings) == 3
    for score in evaluation["groups"]["knowledge"][0]["per_type"].values():
        if score["support"]:
            assert f"{score['recall'] * 100:.1f} of {score['support']}" in headings


def test_seen_entities_are_explained_where_they_are_told_apart():
    docs = toy_ner.make_test_docs()
    nlp = toy_ner.make_ruler({"Anna": "PER"}, None)
    for train, said in (({"train": docs}, True), ({}, False)):
        page = evaluate_in_memory(nlp, docs, samples=9, show_progress=False, **train)
        text = Page(page.to_html()).text
        assert ("An entity is seen if" in text) is said
        assert "In percent. Small figures are" in text or said


def test_errors_are_highlighted_among_other_entities(tmp_path):
    docs = [toy_ner.make_doc("Anna|PER saw Rome|LOC with Dora|PER")]
    page = show(evaluate(tmp_path, docs))
    assert page.marks == [
        # Rome, gold and predicted
        *[("other", "Anna PER"), ("error", "Rome LOC"), ("other", "Dora PER")],
        *[("other", "Anna PER"), ("error", "Rome PER")],
        # Dora, gold and predicted
        *[("other", "Anna PER"), ("other", "Rome LOC"), ("error", "Dora PER")],
        *[("other", "Anna PER"), ("other", "Rome PER")],
    ]


def test_texts_and_types_are_escaped(tmp_path):
    words = ["<script>", "&amp;", "x", "</mark>", "sings", "{{text}}"]
    doc = Doc(Vocab(), words=words, ents=["B-<b>", "I-<b>", "O", "O", "O", "O"])
    evaluation = evaluate(tmp_path, [doc])
    evaluation["setting"]["model"] = "<script>model"
    page = show(evaluation)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "b", "i"})
    assert "<script>model" in page.text
    assert " x </mark> sings {{text}}" in page.text  # gold
    assert "<script> &amp; x </mark> sings" in page.text  # predicted
    assert ("error", "<script> &amp; <b>") in page.marks
    assert ("error", "sings <i>&") in page.marks


def test_overlapping_predictions_keep_the_error(evaluation):
    [example] = evaluation["confusions"][0]["examples"][:1]
    mark = {"start": 0, "end": 4, "label": "PER", "is_error": False}
    example["text"] = "Anna"
    example["predicted"] = [
        mark,
        {**mark, "end": 3, "is_error": True},
        {**mark, "start": 3},  # a neighbour
    ]
    evaluation["confusions"] = [evaluation["confusions"][0] | {"examples": [example]}]
    page = show(evaluation)
    assert {("error", "Ann PER"), ("other", "a PER")} <= set(page.marks)
    assert ("other", "Anna PER") not in page.marks


@pytest.mark.parametrize("docs", [[], [toy_ner.make_doc("nobody is here")]])
def test_a_corpus_without_entities_has_a_page(tmp_path, docs):
    page = show(evaluate(tmp_path, docs, against=tmp_path / "model"))
    assert "There were no errors" in page.text
    assert "By type, against" not in page.text
    assert "comparison" not in page.links
    assert "There is no comparison with" in page.text


def test_warnings_stand_on_the_page_and_are_escaped(evaluation):
    assert evaluation["warnings"] == []
    evaluation["warnings"] = ["None of <b>these"]
    page = show(evaluation)
    assert ("p", {"class": "warning"}) in page.tags
    assert "None of <b>these" in page.text


def test_only_the_most_frequent_kinds_show_sentences(evaluation, monkeypatch):
    monkeypatch.setattr("spacy_hashembeds.evaluation.page.N_SHOWN", 1)
    page = show(evaluation)
    assert len(evaluation["confusions"]) > 1
    assert "error-1" in page.ids
    assert "error-2" not in page.ids
    assert [link for link in page.links if "error" in link] == ["errors", "error-1"]
    counts = [each["count"] for each in evaluation["confusions"]]
    assert f"{counts[0] / sum(counts):.1%}" in page.text


def test_bars_stand_where_figures_are(tmp_path):
    evaluation = evaluate(tmp_path, [toy_ner.make_doc("Anna|PER Dora|PER")] * 3)
    page = show(evaluation)
    places = [float(attrs["cx"]) for tag, attrs in page.tags if tag == "circle"]
    # From 4 to 156: F1 is 2/3, for all, then for Anna seen and Dora unseen.
    assert places[:3] == [pytest.approx(4 + 152 * x, abs=0.06) for x in (2 / 3, 1, 0)]
    lines = [
        attrs for tag, attrs in page.tags if tag == "line" and "class" not in attrs
    ]
    assert {attrs["x1"] for attrs in lines} == {"4"}  # none at 0, where all begins


@pytest.mark.parametrize(
    ("value", "bounds", "points"),
    [
        (0.01, (-0.02, 0.03), 5),
        (0.1, (0.07, 0.12), 15),
        (-0.1, (-0.1 - 0.05, 0.02), 15),  # three steps, but for rounding
    ],
)
def test_differences_are_drawn_around_0(value, bounds, points):
    row = ("F", Change(value), Range(bounds))
    table = _lay_out(ScoreTable("Against", None, ("", "Difference", "From-to"), [row]))
    assert table.header[-1] == f"−{points}.0 to +{points}.0"  # noqa: RUF001
    tags = Page(str(table.rows[0][-1])).tags
    _, zero, bar, dot = [attrs for tag, attrs in tags if tag in ("line", "circle")]
    found = [float(x) for x in (zero["x1"], bar["x1"], bar["x2"], dot["cx"])]
    expected = [80 + 76 * x / points * 100 for x in (0, *bounds, value)]
    assert found == pytest.approx(expected, abs=0.06)


def test_a_phone_scrolls_no_page_but_tables(evaluation):
    page = render(evaluation, is_page=True)
    tags = Page(page).tags
    assert ("meta", {"name": "viewport", "content": PHONE}) in tags
    # Each table stands alone in a box, which scrolls.
    boxes = [
        (attrs["class"].split()[0], after)
        for (tag, attrs), (after, _) in pairwise(tags)
        if tag == "div" and attrs.get("class", "").split()[:1] == ["scroll"]
    ]
    n_tables = sum(tag == "table" for tag, _ in tags)
    assert boxes == [("scroll", "table")] * n_tables
    style = page[page.index("<style>") : page.index("</style>")]
    assert ".hashembeds .scroll { overflow-x: auto;" in style
    # Paths and names without a space break, and no width is more than a phone has.
    assert "overflow-wrap: anywhere" in style
    assert max(map(int, re.findall(r"\bwidth: (\d+)px", style))) < 300


def test_a_part_keeps_its_style_and_its_anchors_to_itself(evaluation):
    part = render(evaluation, is_page=False)
    parsed = Page(part)
    tags = {tag for tag, _ in parsed.tags}
    assert tags.isdisjoint({"html", "head", "body", "script"})
    style = part[part.index("<style>") + 7 : part.index("</style>")]
    rules = re.sub(r"@media [^{]+\{|^\}$", "", style, flags=re.MULTILINE)
    selectors = re.findall(r"([^{}]+)\{", rules)
    assert len(selectors) > 30
    for selector in ",".join(selectors).split(","):
        assert selector.split()[0] == ".hashembeds"
    assert {*parsed.links} <= parsed.ids
    evaluation["setting"]["model"] = "another"
    other = Page(render(evaluation, is_page=False))
    assert len(other.ids) == len(parsed.ids)
    assert other.ids.isdisjoint(parsed.ids)
