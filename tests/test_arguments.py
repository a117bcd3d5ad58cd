"""Arguments of registered functions and of the functions of `spacy_hashembeds`."""

from functools import partial
from typing import Any

import pytest
import spacy

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
def test_attribute_names_and_ids(shape):
    # spaCy 3.8.7 converts the IDs in a config to strings
    assert check_attributes(["NORM", shape]) == ["NORM", "SHAPE"]


@pytest.mark.parametrize("attr", [987654, "987654", "-68", "6 8", "²", "", True, 68.5])
def test_invalid_attributes_raise(attr):
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
def test_bounds(check, good, bad):
    for value in good:
        check(value)
    for value in bad:
        with pytest.raises((ValueError, TypeError), match="'name") as error:
            check(value)
        assert len(str(error.value)) < 200


NLP: Any = spacy.blank("en")
DOCS: Any = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("nlp", lambda: accelerate("en")),
        ("nlp", lambda: use_fastest_blas("en")),
        ("nlp", lambda: calibrate_ner("en", DOCS)),
        ("nlp", lambda: count_symbols("en", DOCS)),
        ("nlp", lambda: evaluate(5, DOCS, train=DOCS)),
        ("rounds", lambda: accelerate(NLP, rounds=0)),
        ("precision", lambda: accelerate(NLP, precision="i4")),
        ("precision", lambda: accelerate(NLP, precision="int8")),  # has no encoder
        *(
            ("max_changed", partial(accelerate, NLP, max_changed=value))
            for value in (-1, 101, float("nan"), "1")
        ),
        ("samples", lambda: evaluate(DOCS, DOCS, train=DOCS, samples=0)),
    ],
)
def test_arguments_are_checked_first(argument, call):
    with pytest.raises((TypeError, ValueError), match=f"'{argument}' should be"):
        call()


@pytest.mark.parametrize("items", [5, b"x", DOCS[0]], ids=repr)
@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("texts", lambda items: accelerate(NLP, items)),
        ("examples", lambda items: count_symbols(NLP, items)),
        ("examples", lambda items: evaluate(NLP, items, train=DOCS)),
        ("train", lambda items: evaluate(NLP, DOCS, train=items)),
        ("train", lambda items: analyze(items)),
        ("dev", lambda items: analyze(DOCS, dev=items)),
    ],
)
def test_single_items_raise(argument, call, items):
    with pytest.raises(TypeError, match=f"'{argument}' should be a list"):
        call(items)
