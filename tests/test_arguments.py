"""Arguments of what a config names, and of the functions of `spacy_hashembeds`."""

from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds import (
    accelerate,
    analyze,
    calibrate_ner,
    count_symbols,
    evaluate,
    use_fastest_blas,
)
from spacy_hashembeds.arguments import (
    check_attributes,
    check_choice,
    check_integers,
    check_rows,
    check_shares,
)

from . import toy_ner


@pytest.mark.parametrize("shape", [68, "68", "SHAPE", "shape"])
def test_attributes_have_names_and_ids(shape):
    # spaCy 3.8.7 hands over the IDs of a config as text
    assert check_attributes(["NORM", shape]) == ["NORM", "SHAPE"]


@pytest.mark.parametrize("attr", [987654, "987654", "-68", "6 8", "²", "", True, 68.5])
def test_what_is_no_attribute_is_named(attr):
    with pytest.raises(ValueError, match=f"'attrs' holds {attr!r}"):
        check_attributes(["NORM", attr])


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (lambda x: check_integers(0, 5, name=x), (0, 5), (-1, 6, 1.0, True, "1", None)),
        (lambda x: check_shares(name=x), (0, 0.5), (1, -0.1, float("nan"), "0", True)),
        (lambda x: check_choice("ab", name=x), ("a", "b"), ("c" * 10_000, 5, None)),
        (lambda x: check_rows(["A", "B"], name=x), ([1, 2],), ([1], [1, 0], 5, None)),
    ],
)
def test_what_is_out_of_bounds_is_refused(check, good, bad):
    for value in good:
        check(value)
    for value in bad:
        with pytest.raises((ValueError, TypeError), match="'name") as error:
            check(value)
        assert len(str(error.value)) < 200


@pytest.fixture(scope="module")
def stock() -> Language:
    return toy_ner.make_ruler({"Anna": "PER"}, None)


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


def test_other_things_than_pipelines_are_refused(docs):
    nlp: Any = "en"
    for call in (accelerate, use_fastest_blas):
        with pytest.raises(TypeError, match="'nlp'"):
            call(nlp)
    for call in (calibrate_ner, count_symbols):
        with pytest.raises(TypeError, match="'nlp'"):
            call(nlp, docs)
    with pytest.raises(TypeError, match="'nlp'"):
        evaluate(nlp, docs, train=docs)


@pytest.mark.parametrize("items", [5, b"x", Doc(Vocab(), words=["a"])], ids=repr)
def test_what_holds_no_items_is_not_read_piece_by_piece(stock, docs, items: Any):
    for argument, call in {
        "texts": lambda: accelerate(stock, items),
        "examples": lambda: count_symbols(stock, items),
        "train": lambda: analyze(items),
        "dev": lambda: analyze(docs, dev=items),
    }.items():
        with pytest.raises(TypeError, match=f"'{argument}' should be a list"):
            call()
    with pytest.raises(TypeError, match="'examples' should be a list"):
        evaluate(stock, items, train=docs)
    with pytest.raises(TypeError, match="'train' should be a list"):
        evaluate(stock, docs, train=items)


def test_arguments_are_checked_before_the_work(docs):
    nlp = spacy.blank("en")
    for argument, call in {
        "blas": lambda: accelerate(nlp, blas="x"),  # type: ignore[arg-type]
        "rounds": lambda: accelerate(nlp, rounds=0),
        "model": lambda: analyze(docs, model=5),  # type: ignore[arg-type]
        "bound": lambda: analyze(docs, bound="x"),  # type: ignore[arg-type]
        "seed": lambda: evaluate(docs, docs, train=docs, seed=-1),
        "samples": lambda: evaluate(docs, docs, train=docs, samples=0),
    }.items():
        with pytest.raises((TypeError, ValueError), match=f"'{argument}'"):
            call()
