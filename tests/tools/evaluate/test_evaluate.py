import json
from io import StringIO

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.tools.evaluate.evaluate import Evaluation, evaluate

from ... import toy_ner

PATTERNS = {"Anna": "PER", "Oslo": "LOC", "Rome": "PER", "in": "MISC"}


@pytest.fixture(scope="module")
def nlp():
    return toy_ner.make_ruler(PATTERNS, None)


@pytest.fixture(scope="module")
def train() -> list[Doc]:
    return [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


def without_names(evaluation: Evaluation) -> dict:
    data = json.loads(json.dumps(dict(evaluation), allow_nan=False))
    for key in ("model", "test", "train"):
        del data["setting"][key]
    return data


def test_docs_and_files_have_equal_results_and_seeds_differ(nlp, train, tmp_path):
    golds = toy_ner.make_test_docs()
    expected = evaluate(nlp, golds, train=train, samples=50)
    nlp.to_disk(tmp_path / "model")
    test = toy_ner.write(tmp_path / "test.spacy", golds)
    path = toy_ner.write_train(tmp_path / "train.spacy")
    from_files = evaluate(tmp_path / "model", test, train=path, samples=50)
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


def make_examples(nlp, golds: list[Doc]) -> list[Example]:
    return [Example(Doc(nlp.vocab, [t.text for t in gold]), gold) for gold in golds]


def test_predicted_docs_have_the_results_of_their_pipeline(nlp, train):
    golds = [toy_ner.make_doc(text) for text in toy_ner.TEST]
    expected = evaluate(nlp, golds, train=train, against=nlp, samples=50)
    examples, trains = make_examples(nlp, golds), make_examples(nlp, train)
    predicted = [nlp(eg.predicted) for eg in make_examples(nlp, golds)]
    options = {"train": trains, "against": iter(predicted), "samples": 50}
    found = evaluate(iter(predicted), examples, **options)
    expected["comparison"]["model"] = found["comparison"]["model"]
    assert 0 < found["ents_f"] < 1
    assert without_names(found) == without_names(expected)


@pytest.mark.parametrize("argument", ["nlp", "against", "examples", "train"])
def test_other_sources_are_refused(nlp, train, argument):
    sources = {"nlp": nlp, "examples": train}
    for source in (7, train[0], *([nlp] if argument in ("examples", "train") else [])):
        with pytest.raises(TypeError, match=f"'{argument}' should be"):
            evaluate(**{**sources, argument: source})
    held = "predictions" if argument in ("nlp", "against") else argument
    with pytest.raises(TypeError, match=f"'{held}' should hold"):
        evaluate(**{**sources, argument: [7]})


@pytest.mark.parametrize("settings", [{"samples": 0}, {"samples": 10**6}, {"seed": -1}])
def test_invalid_draws_are_refused_before_reading(nlp, settings):
    def read():
        raise AssertionError
        yield

    (name,) = settings
    with pytest.raises(ValueError, match=f"'{name}' should be"):
        evaluate(nlp, read(), train=read(), **settings)


@pytest.mark.parametrize(("is_terminal", "show"), [(1, 1), (1, 0), (0, 1)])
def test_progress_is_shown_in_a_terminal(nlp, train, monkeypatch, is_terminal, show):
    screen = StringIO()
    screen.isatty = lambda: bool(is_terminal)
    monkeypatch.setattr("sys.stderr", screen)
    evaluate(nlp, train, train=train, samples=10, show_progress=bool(show))
    for step in ("Reading train", "Evaluating en_pipeline", f"/{len(train)} "):
        assert (step in screen.getvalue()) is bool(is_terminal and show)
    assert screen.getvalue().rpartition("\r")[2] == ""  # cleared


@pytest.mark.parametrize("suffix", [".json", ".html", ".md"])
def test_files_are_written_atomically(nlp, train, tmp_path, suffix):
    evaluation, path = evaluate(nlp, train, samples=9), tmp_path / f"new/e{suffix}"
    if suffix != ".json":
        evaluation["warnings"] = ["a name of bytes: \udcff"]
    evaluation.write(path)
    forms = {
        ".json": json.dumps(dict(evaluation), indent=2, ensure_ascii=False) + "\n",
        ".html": evaluation.to_html(),
        ".md": str(evaluation),
    }
    expected = forms[suffix].encode("utf8", errors="backslashreplace")
    assert path.read_bytes() == expected
    with pytest.raises((KeyError, ValueError)):
        Evaluation({"ents_f": float("nan")}).write(path)
    assert path.read_bytes() == expected


def test_predictions_and_pipelines_are_distinguished(nlp, tmp_path):
    golds = toy_ner.make_test_docs()
    test = toy_ner.write(tmp_path / "test.spacy", golds)
    (tmp_path / "shards").mkdir()
    for number, doc in enumerate(golds):
        toy_ner.write(tmp_path / "shards" / f"{number:02}.spacy", [doc])
    for predictions in (tmp_path / "shards", test):
        assert evaluate(predictions, test, samples=10)["ents_f"] == 1
    nlp.to_disk(tmp_path / "model")
    toy_ner.write(tmp_path / "model" / "dev.spacy", [])
    assert evaluate(tmp_path / "model", test, samples=10)["ents_f"] < 1
    toy_ner.write_train(tmp_path / "train.spacy")
    with pytest.raises(ValueError, match=r"train\.spacy, test\.spacy"):
        evaluate(tmp_path, test)
    for model, train in (("elsewhere", None), (test, tmp_path / "missing.spacy")):
        with pytest.raises(OSError, match=r"elsewhere|missing"):
            evaluate(model, test, train=train)


def test_a_missing_library_is_named(nlp, train, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "nervaluate", None)
    with pytest.raises(ImportError, match="tools"):
        evaluate(nlp, train, samples=10)
