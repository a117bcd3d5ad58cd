"""What the functions of `spacy_hashembeds` say of arguments of other types."""

from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import get_current_ops

from spacy_hashembeds import (
    accelerate,
    analyze,
    calibrate_ner,
    count_symbols,
    evaluate,
    use_fastest_blas,
)

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
    for call in (
        lambda: accelerate(nlp),
        lambda: use_fastest_blas(nlp),
        lambda: calibrate_ner(nlp, docs),
        lambda: count_symbols(nlp, docs),
    ):
        with pytest.raises(TypeError, match=f"{PIPELINE}{shown}\\.$"):
            call()
    with pytest.raises(TypeError, match=f"'nlp' should be a pipeline.*is {shown}\\.$"):
        evaluate(nlp, docs, train=docs)


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        (5, "5"),
        (b"x", "b'x'"),
        (Doc(spacy.blank("en").vocab, words=["a"]), "of type Doc"),
        (len, "of type builtin_function_or_method"),
    ],
)
def test_what_holds_no_items(stock, docs, items: Any, shown):
    calls = {
        "texts": lambda: accelerate(stock, items),
        "examples": lambda: count_symbols(stock, items),
        "train": lambda: analyze(items),
        "dev": lambda: analyze(docs, dev=items),
    }
    for name, call in calls.items():
        match = (
            rf"'{name}' should be a list, .* but is {shown}\. A single one should st"
        )
        with pytest.raises(TypeError, match=match):
            call()
    for name in ("examples", "train"):
        match = (
            rf"'{name}' should be a list, .* of Docs or .* but is {shown}\. A single"
        )
        with pytest.raises(TypeError, match=match):
            evaluate(stock, **{"examples": docs, "train": docs, name: items})


def test_none_is_no_corpus(stock, docs):
    for name, call in {
        "examples": lambda: count_symbols(stock, None),  # type: ignore[arg-type]
        "train": lambda: analyze(None),  # type: ignore[arg-type]
    }.items():
        with pytest.raises(TypeError, match=f"'{name}' should be a list.* but is None"):
            call()
    arguments: Any = {"examples": None, "train": docs}
    with pytest.raises(TypeError, match=r"'examples' should be a list.* but is None"):
        evaluate(stock, **arguments)


def test_a_text_is_not_read_letter_by_letter(stock, tmp_path):
    from spacy_hashembeds.acceleration.accelerate import accelerate_folder

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
    ("argument", "error", "match"),
    [
        ({"blas": "x"}, TypeError, "'blas' should be True or False, but is 'x'"),
        ({"rounds": "x"}, TypeError, "'rounds' should be an integer, but is 'x'"),
        ({"rounds": 0}, ValueError, "'rounds' should be 1 or more, but is 0"),
    ],
)
def test_accelerate_checks_arguments_before_the_work(argument: Any, error, match):
    # that there is nothing to convert would show later
    with pytest.raises(error, match=match):
        accelerate(spacy.blank("en"), **argument)


@pytest.mark.parametrize(
    ("argument", "match"),
    [
        ({"model": 5}, r"'model' should be a pipeline \(Language\), or its .* is 5\.$"),
        ({"vectors": 5}, r"'vectors' should be a pipeline .* but is 5\.$"),
        ({"config": 5}, r"'config' should be a config, or its file, but is 5\.$"),
        ({"overrides": "x"}, r"'overrides' should be a dict of settings, but is 'x'"),
        ({"bound": "x"}, r"'bound' should be a number above 0 and below 1, .* 'x'\.$"),
    ],
)
def test_analyze(docs, argument: Any, match):
    with pytest.raises(TypeError, match=match):
        analyze(docs, **argument)


@pytest.mark.parametrize(
    ("argument", "error", "match"),
    [
        ({"seed": -1}, ValueError, "'seed' should be 0 or more, but is -1"),
        ({"seed": 1.5}, TypeError, r"'seed' should be an integer, but is 1\.5"),
        ({"seed": "x"}, TypeError, "'seed' should be an integer, but is 'x'"),
        ({"seed": None}, TypeError, "'seed' should be an integer, but is None"),
        ({"samples": 1.5}, TypeError, r"'samples' should be an integer, but is 1\.5"),
    ],
)
def test_draws_of_evaluate(docs, argument: Any, error, match):
    with pytest.raises(error, match=match):
        evaluate(docs, docs, train=docs, **argument)


@pytest.mark.parametrize("path", [None, 1, b"x"])
def test_an_evaluation_is_written_to_a_path(docs, path: Any):
    evaluation = evaluate(docs, docs, train=docs, samples=1, show_progress=False)
    with pytest.raises(TypeError, match=f"'path'.*the path of a file, but is {path!r}"):
        evaluation.write(path)
