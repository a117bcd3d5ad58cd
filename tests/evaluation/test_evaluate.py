import json
import re
from copy import deepcopy
from io import StringIO
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.corpora.columns import ColumnFormat
from spacy_hashembeds.display import Table
from spacy_hashembeds.evaluation.evaluate import Evaluation, evaluate, evaluate_in_depth
from spacy_hashembeds.evaluation.page import render
from spacy_hashembeds.evaluation.tables import _quote

from .. import toy_ner

PATTERNS = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "in": "MISC"}


@pytest.fixture(scope="module")
def nlp():
    return toy_ner.make_ruler(PATTERNS, None)


@pytest.fixture(scope="module")
def train() -> list[Doc]:
    return [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


@pytest.fixture(scope="module")
def evaluation(nlp, train):
    other = toy_ner.make_ruler({"Anna": "PER"}, None)
    golds = toy_ner.make_test_docs()
    return evaluate(nlp, golds, train=train, against=other, samples=50)


def without_names(evaluation: Evaluation) -> dict:
    data = json.loads(json.dumps(dict(evaluation)))
    for key in ("model", "test", "train"):
        del data["setting"][key]
    return data


# What is given.


def test_docs_examples_and_files_give_the_same(nlp, train, tmp_path):
    golds = toy_ner.make_test_docs()
    expected = evaluate(nlp, golds, train=train, samples=50)
    nlp.to_disk(tmp_path / "model")
    test = toy_ner.write(tmp_path / "test.spacy", golds)
    path = toy_ner.write_train(tmp_path / "train.spacy")
    from_files = evaluate_in_depth(tmp_path / "model", test, path, samples=50)
    from_docs = evaluate(nlp, str(test), train=path, samples=50)
    once = evaluate(nlp, iter(golds), train=iter(train), samples=50)
    for found in (from_files, from_docs, once):
        assert without_names(found) == without_names(expected)
    assert expected["setting"]["model"] == "en_pipeline"
    assert from_docs["setting"]["test"] == str(test)


def test_predicted_docs_give_what_their_pipeline_does(nlp, train):
    golds = [toy_ner.make_doc(text) for text in toy_ner.TEST]
    trains = [Example(Doc(doc.vocab, [t.text for t in doc]), doc) for doc in train]
    expected = evaluate(nlp, golds, train=train, against=nlp, samples=50)
    predicted = [nlp(Doc(nlp.vocab, [t.text for t in doc])) for doc in golds]
    examples = [Example(Doc(nlp.vocab, [t.text for t in doc]), doc) for doc in golds]
    found = evaluate(
        iter(predicted), examples, train=trains, against=iter(predicted), samples=50
    )
    expected["comparison"]["model"] = found["comparison"]["model"]
    assert 0 < found["ents_f"] < 1
    assert without_names(found) == without_names(expected)


def test_nothing_that_is_given_is_changed(nlp, train):
    golds = toy_ner.make_test_docs()
    examples = [Example(Doc(nlp.vocab, [t.text for t in doc]), doc) for doc in golds]
    before = [(eg.predicted, eg.predicted.to_bytes()) for eg in examples]
    references = [doc.to_bytes() for doc in golds]
    evaluate(nlp, examples, train=train, samples=10)
    assert [(eg.predicted, eg.predicted.to_bytes()) for eg in examples] == before
    assert [eg.reference.to_bytes() for eg in examples] == references


@pytest.mark.parametrize("argument", ["nlp", "against"])
@pytest.mark.parametrize("source", ["model", Path("model"), 7])
def test_what_is_no_pipeline_is_refused(nlp, train, argument, source):
    sources = {"nlp": nlp, "against": nlp, argument: source}
    with pytest.raises(TypeError, match=f"'{argument}' should be a pipeline, as spacy"):
        evaluate(sources["nlp"], [], train=train, against=sources["against"])


def test_what_holds_no_docs_is_refused(nlp, train):
    doc = train[0]
    match = r"but there is one of type str\. A single Doc should"
    with pytest.raises(TypeError, match=match):
        evaluate(nlp, ["a text"], train=train)
    with pytest.raises(TypeError, match=match):
        evaluate(nlp, train, train=["a text"])
    with pytest.raises(TypeError, match="but there is one of type Token"):
        evaluate(doc, train, train=train)
    with pytest.raises(TypeError, match=r"predictions Docs, but.*of type Example"):
        evaluate([Example(doc, doc)], train, train=train)


def test_no_draws_are_refused_before_anything_is_read(nlp):
    def read():
        raise AssertionError
        yield

    with pytest.raises(ValueError, match="'samples' should be 1 to 1000000, but is 0"):
        evaluate(nlp, read(), train=read(), samples=0)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stderr", "show", "is_shown"),
    [(Terminal, True, True), (Terminal, False, False), (StringIO, True, False)],
)
def test_a_terminal_shows_how_far_it_is(
    nlp, train, monkeypatch, stderr, show, is_shown
):
    monkeypatch.setattr("sys.stderr", screen := stderr())
    golds = toy_ner.make_test_docs()
    evaluate(nlp, golds, train=train, against=nlp, samples=10, show_progress=show)
    steps = ["Reading train", "Evaluating en_pipeline"]
    steps += ["Drawing documents", "Drawing signs"]
    text = screen.getvalue()
    assert [step in text for step in steps] == [is_shown] * len(steps)
    assert (text == "") == (not is_shown)
    if is_shown:
        assert f"/{len(golds)} " in text
        # Nothing is left on the screen.
        assert text.rpartition("\r")[2] == ""


# Schemes and averages.


def test_credit_for_overlaps_is_for_all_the_seen_and_the_unseen(train):
    # New Orleans is unseen, New York is seen.
    golds = [toy_ner.make_doc("New+York|LOC or New+Orleans|LOC")]
    nlp = toy_ner.make_ruler({"York": "LOC", "New Orleans": "PER"}, None)
    schemes = evaluate(nlp, golds, train=train, samples=10)["schemes"]
    f1 = {kind: [score["f"] for score in of.values()] for kind, of in schemes.items()}
    assert f1 == {
        "all": [0, 1 / 2, 3 / 4, 1 / 2],
        "seen": [0, 0, 1 / 2, 1],
        "unseen": [0, 1, 1, 0],
    }


# What it can be shown as.


def test_it_is_a_mapping_that_names_itself(evaluation):
    assert evaluation["ents_support"] == dict(evaluation)["ents_support"] > 0
    assert len(evaluation) == len(list(evaluation))
    f1 = f"{evaluation['ents_f'] * 100:.2f}"
    support = evaluation["ents_support"]
    expected = f"<Evaluation of en_pipeline: F1 {f1} on {support} entities>"
    assert repr(evaluation) == expected
    assert str(evaluation) == evaluation.to_markdown()
    assert evaluation.to_html() == render(evaluation, is_page=True)
    assert evaluation._repr_html_() == render(evaluation, is_page=False)


def test_a_pipeline_says_what_is_evaluated_whatever_gold_docs_have_besides(nlp):
    gold = toy_ner.make_doc("Anna|PER")
    gold.cats = {"a": 1.0}
    assert "ents_f" in evaluate(nlp, [gold], samples=10)


def test_a_summary_has_the_types_that_differ_for_sure(evaluation):
    evaluation = deepcopy(evaluation)
    per_type = evaluation["comparison"]["per_type"]
    found = {label: row["f"] for label, row in per_type.items() if row is not None}
    for row, p_value in zip(found.values(), (0.05, 0.0501), strict=True):
        row["p_value"] = p_value
    evaluation["confusions"] = evaluation["confusions"][:1] * 11
    parts = evaluation.get_parts(full=False)
    tables = {part.title: part.rows for part in parts if isinstance(part, Table)}
    of_types = next(rows for title, rows in tables.items() if "By type" in title)
    assert [row[0] for row in of_types] == [next(iter(found))]
    assert len(tables["Errors"]) == 5
    assert len(evaluation.make_tables()[-1].rows) == 10


@pytest.mark.parametrize(
    ("room", "shown"),
    [(20, "w2 [Anna Brown] sin"), (28, "w1 w2 [Anna Brown] sings o")],
)
def test_an_error_is_shown_whole_among_what_there_is_room_for(room, shown):
    gold, predicted = ({"start": 6, "end": end, "is_error": True} for end in (16, 10))
    text = "w1 w2 Anna Brown sings of love in Oslo"
    example = {"text": text, "gold": [gold], "predicted": [predicted]}
    assert _quote(example, room) == shown


def test_markdown_has_the_tables(evaluation):
    text = evaluation.to_markdown()
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<h1>Named entities, evaluated</h1>" in html
    titles = re.findall("<h2>(.*)</h2>", html)
    assert titles[:8] == [
        "Entities",
        "Against en_pipeline",
        "Entities by type",
        "By type, against en_pipeline",
        "Entities by length",
        "By length, against en_pipeline",
        "Averages over types",
        "Schemes of matching",
    ]
    assert html.count("<table>") == len(titles)
    for key in "prf":
        score = f"{evaluation[f'ents_unseen_{key}'] * 100:.2f}"
        assert f'<td style="text-align:right">{score}</td>' in html
    assert ">COR</th>" in html
    assert "95% intervals over the" in text


def test_names_and_warnings_are_escaped_in_markdown(nlp):
    golds = [Doc(nlp.vocab, words=["a|b"], ents=["B-<i>|*x*"])]
    text = str(evaluate(nlp, golds, train=[], samples=10))
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<i>" not in html
    assert "<td style" in html
    assert "&lt;i&gt;|*x*" in html
    assert "<strong>'en_pipeline' predicts not one entity." in html


@pytest.mark.parametrize("name", ["e.json", "e.html", "e.md"])
def test_files_are_written_whole_or_not_at_all(evaluation, tmp_path, name):
    path = tmp_path / "new" / name
    evaluation.write(path)
    forms = {
        ".json": json.dumps(dict(evaluation), indent=2, ensure_ascii=False) + "\n",
        ".html": evaluation.to_html(),
        ".md": evaluation.to_markdown(),
    }
    assert path.read_text(encoding="utf8") == forms[path.suffix]
    with pytest.raises((KeyError, ValueError)):
        Evaluation({"ents_f": float("nan")}).write(path)
    assert path.read_text(encoding="utf8") == forms[path.suffix]


def test_files_of_predictions_have_a_column_of_their_own(tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr("spacy_hashembeds.evaluation.evaluate.require_gpu", used.append)
    path = tmp_path / "both.iob"
    path.write_text("B-PER Anna B-PER\nO met O\nO Ben B-PER\n")
    layout = ColumnFormat(word=1, tag=2)
    evaluation = evaluate_in_depth(
        *(path, path), against=path, layout=layout, predicted_column=0, use_gpu=0
    )
    assert used == [0]
    assert evaluation["setting"]["samples"] == 5000
    assert (evaluation["ents_r"], evaluation["ents_support"]) == (1 / 2, 2)
    assert evaluation["comparison"]["all"]["r"]["other"] == 1 / 2


def test_a_name_that_is_no_text_can_be_written(nlp, train, tmp_path):
    path = toy_ner.write(tmp_path / "te\udcffst.spacy", toy_ner.make_test_docs())
    evaluation = evaluate(nlp, path, train=train, samples=10)
    for suffix in (".json", ".html", ".md"):
        evaluation.write(tmp_path / f"e{suffix}")
    assert "te\\udcffst.spacy" in (tmp_path / "e.html").read_text(encoding="utf8")


def test_nothing_to_score_has_all_forms(nlp, tmp_path):
    evaluation = evaluate(nlp, [], train=[], samples=10)
    assert evaluation["averages"] == dict.fromkeys(("all", "seen", "unseen"))
    assert "holds no documents" in evaluation.to_markdown()
    assert "holds no documents" in evaluation._repr_html_()
    assert repr(evaluation) == "<Evaluation of en_pipeline: F1 - on 0 entities>"
