import json
from io import StringIO
from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.tools.evaluate.evaluate import (
    Evaluation,
    evaluate,
    evaluate_in_depth,
)
from spacy_hashembeds.tools.prepare.columns import ColumnFormat

from ... import toy_ner

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
    data = json.loads(json.dumps(dict(evaluation), allow_nan=False))
    for key in ("model", "test", "train"):
        del data["setting"][key]
    return data


def test_docs_and_files_give_the_same_and_seeds_others(nlp, train, tmp_path):
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
    other = evaluate(nlp, golds, samples=50, seed=3)
    assert (other["setting"]["samples"], other["setting"]["seed"]) == (50, 3)
    assert other["ents_f"] == expected["ents_f"]
    assert other["ents_f_interval"] != expected["ents_f_interval"]


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
def test_what_is_no_pipeline_is_refused(nlp, argument, source):
    sources = {"nlp": nlp, "against": nlp, argument: source}
    with pytest.raises(TypeError, match=f"'{argument}' should be .*a pipeline"):
        evaluate(sources["nlp"], [], against=sources["against"])


def test_what_holds_no_docs_is_refused(nlp, train):
    doc = train[0]
    for sources in (
        {"examples": ["a text"]},
        {"examples": train, "train": ["a text"]},
        {"examples": train, "nlp": [Example(doc, doc)]},
    ):
        with pytest.raises(TypeError, match="' should hold"):
            evaluate(**{"nlp": nlp, **sources})
    with pytest.raises(TypeError, match="'nlp'"):
        evaluate(doc, train)


@pytest.mark.parametrize("settings", [{"samples": 0}, {"samples": 10**6}, {"seed": -1}])
def test_draws_that_cannot_be_are_refused_before_anything_is_read(nlp, settings):
    def read():
        raise AssertionError
        yield

    (name,) = settings
    with pytest.raises(ValueError, match=f"'{name}' should be"):
        evaluate(nlp, read(), train=read(), **settings)


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
    text = screen.getvalue()
    for step in ("Reading train", "Evaluating en_pipeline", f"/{len(golds)} "):
        assert (step in text) is is_shown
    # Nothing is left on the screen.
    assert text.rpartition("\r")[2] == ""


def test_it_is_a_mapping_that_names_itself(evaluation):
    assert evaluation["ents_support"] == dict(evaluation)["ents_support"] > 0
    f1 = f"{evaluation['ents_f'] * 100:.2f}"
    support = evaluation["ents_support"]
    expected = f"<Evaluation of en_pipeline: F1 {f1} on {support} entities>"
    assert repr(evaluation) == expected
    assert str(evaluation) == evaluation.to_markdown()


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
    name = "spacy_hashembeds.tools.evaluate.evaluate.require_gpu"
    monkeypatch.setattr(name, used.append)
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


def test_a_library_that_is_missing_is_named(nlp, train, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "nervaluate", None)
    with pytest.raises(ImportError, match=r"spacy-hashembeds\[tools\]"):
        evaluate(nlp, train, samples=10)
