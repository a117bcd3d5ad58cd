"""What the functions of `spacy_hashembeds` say of arguments of other types."""

from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import get_current_ops

from spacy_hashembeds import (
    accelerate,
    analyze,
    calibrate_ner,
    count_symbols,
    evaluate,
    use_fastest_blas,
)
from spacy_hashembeds.acceleration.accelerate import accelerate_folder

from . import toy_ner
from .acceleration import accelerate_pipelines as pipelines


@pytest.fixture(scope="module")
def stock() -> Language:
    """A trained pipeline of spaCy's layers."""
    return pipelines.MAKERS["bare"][0]()


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


PIPELINE = (
    r"'nlp' should be a pipeline \(Language\), as spacy\.load returns it, but is "
)


@pytest.mark.parametrize(("nlp", "shown"), [(None, "None"), ("en", "'en'"), (5, "5")])
def test_pipelines(nlp: Any, shown, docs):
    for call in (accelerate, use_fastest_blas):
        with pytest.raises(TypeError, match=f"{PIPELINE}{shown}\\.$"):
            call(nlp)
    for call in (calibrate_ner, count_symbols):
        with pytest.raises(TypeError, match=f"{PIPELINE}{shown}\\.$"):
            call(nlp, docs)
    with pytest.raises(TypeError, match=f"'nlp' should be a pipeline.*is {shown}\\.$"):
        evaluate(nlp, docs, train=docs)


CALLS = {
    "texts": lambda nlp, docs, items: accelerate(nlp, items),
    "examples": lambda nlp, docs, items: count_symbols(nlp, items),
    "train": lambda nlp, docs, items: analyze(items),
    "dev": lambda nlp, docs, items: analyze(docs, dev=items),
    "examples of evaluate": lambda nlp, docs, items: evaluate(nlp, items, train=docs),
    "train of evaluate": lambda nlp, docs, items: evaluate(nlp, docs, train=items),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("items", "shown"),
    [
        (5, "5"),
        (b"x", "b'x'"),
        (Doc(Vocab(), words=["a"]), "of type Doc"),
        (len, "of type builtin_function_or_method"),
    ],
)
def test_what_holds_no_items(stock, docs, call, items: Any, shown):
    name = call.split()[0]
    match = rf"'{name}' should be a list, .* but is {shown}\. A single one should st"
    with pytest.raises(TypeError, match=match):
        CALLS[call](stock, docs, items)


@pytest.mark.parametrize("call", ["examples", "train", "examples of evaluate"])
def test_none_is_no_corpus(stock, docs, call):
    name = call.split()[0]
    with pytest.raises(TypeError, match=rf"'{name}' should be a list.* but is None"):
        CALLS[call](stock, docs, None)


def test_a_text_is_not_read_letter_by_letter(stock, tmp_path):
    ops = get_current_ops()
    match = (
        r"'texts' should be a list, or another iterable, of strings or Docs, but is "
    )
    with pytest.raises(TypeError, match=f"{match}'hello world'"):
        accelerate(stock, "hello world")
    with pytest.raises(TypeError, match=f"{match}'hello world'"):
        accelerate_folder("none", tmp_path / "out", "hello world")
    with pytest.raises(TypeError, match=r"'examples' should be a list.*'hello"):
        count_symbols(stock, "hello world")  # type: ignore[arg-type]
    assert get_current_ops() is ops
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("function", "argument", "error", "match"),
    [
        # that there is nothing to convert would show later
        (accelerate, {"blas": "x"}, TypeError, "'blas' should be True or False, but i"),
        (accelerate, {"rounds": "x"}, TypeError, "'rounds' should be an integer, but "),
        (accelerate, {"rounds": 0}, ValueError, "'rounds' should be 1 or more, but is"),
        (
            analyze,
            {"model": 5},
            TypeError,
            "'model' should be a pipeline .* is 5",
        ),
        (analyze, {"vectors": 5}, TypeError, "'vectors' should be a pipeline .* is 5"),
        (analyze, {"config": 5}, TypeError, "'config' should be a config, or its file"),
        (analyze, {"overrides": "x"}, TypeError, "'overrides' should be a dict of set"),
        (analyze, {"bound": "x"}, TypeError, "'bound' should be a number above 0 and "),
        (evaluate, {"seed": -1}, ValueError, "'seed' should be 0 or more, but is -1"),
        (evaluate, {"seed": 1.5}, TypeError, r"'seed' should be an integer, .* 1\.5"),
        (evaluate, {"seed": None}, TypeError, "'seed' should be an integer, .* None"),
        (evaluate, {"samples": 1.5}, TypeError, "'samples' should be an integer, but "),
    ],
)
def test_arguments_are_checked_before_the_work(docs, function, argument, error, match):
    given = {
        accelerate: ([spacy.blank("en")], {}),
        analyze: ([docs], {}),
        evaluate: ([docs, docs], {"train": docs}),
    }
    data, settings = given[function]
    with pytest.raises(error, match=match):
        function(*data, **settings, **argument)


@pytest.mark.parametrize("path", [None, 1, b"x"])
def test_an_evaluation_is_written_to_a_path(docs, path: Any):
    evaluation = evaluate(docs, docs, train=docs, samples=1, show_progress=False)
    with pytest.raises(TypeError, match=f"'path'.*the path of a file, but is {path!r}"):
        evaluation.write(path)
