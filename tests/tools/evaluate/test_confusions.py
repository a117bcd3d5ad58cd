from collections import Counter

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.confusions import (
    ErrorCounter,
    count_entity_errors,
    pair_errors,
)
from spacy_hashembeds.training.scorer import Matches

from ... import toy_ner


@pytest.mark.parametrize(
    ("missed", "spurious", "expected"),
    [
        # the prediction that shares more tokens
        ([("P", 0, 3)], [("P", 0, 1), ("L", 1, 3)], [(0, 1), (None, 0)]),
        # then the same type
        ([("P", 0, 2)], [("L", 0, 1), ("P", 1, 2)], [(0, 1), (None, 0)]),
        # then the first
        ([("P", 0, 1), ("P", 1, 2)], [("P", 0, 2)], [(0, 0), (1, None)]),
        # adjacent entities do not overlap
        ([("P", 0, 2)], [("P", 2, 3)], [(0, None), (None, 0)]),
        # two predictions aligned with one gold token
        ([("P", 0, 1)], [("P", 0, 1), ("P", 0, 1)], [(0, 0), (None, 1)]),
    ],
)
def test_entities_are_paired_by_overlap(missed, spurious, expected):
    pairs = [
        (None if i is None else missed[i], None if j is None else spurious[j])
        for i, j in expected
    ]
    assert Counter(pair_errors(missed, spurious)) == Counter(pairs)


def count(*docs: tuple[Doc, Matches]):
    counter = ErrorCounter()
    for number, (doc, matches) in enumerate(docs):
        count_entity_errors(counter, number, doc, matches)
    return counter.rank()


def describe(example, side):
    """Return the text, label and `is_error` of each mark."""
    text = example["text"]
    return [
        (text[mark["start"] : mark["end"]], mark["label"], mark["is_error"])
        for mark in example[side]
    ]


def test_confusions_are_ranked_by_count_and_then_by_name():
    doc = toy_ner.make_doc("Anna|PER Ben|PER Oslo|LOC Rome+2|LOC and so on")
    matches = Matches(
        missed=(("PER", 0, 1), ("PER", 1, 2), ("LOC", 2, 3), ("LOC", 3, 5)),
        spurious=(("LOC", 0, 1), ("LOC", 1, 2), ("LOC", 3, 4), ("PER", 6, 8)),
    )
    confusions = count(*[(doc, matches)] * 7)
    keys = ("gold", "predicted", "error", "count")
    assert [tuple(each[key] for key in keys) for each in confusions] == [
        ("PER", "LOC", "type", 14),
        (None, "PER", "spurious", 7),
        ("LOC", None, "missed", 7),
        ("LOC", "LOC", "boundary", 7),
    ]
    # five examples are kept
    assert [example["document"] for example in confusions[1]["examples"]] == [*range(5)]


def test_an_example_shows_the_error_among_the_other_entities():
    """Ignored entities are included, except those aligned with no token."""
    doc = toy_ner.make_doc("we saw Carl+Brown|PER in Oslo|LOC by night")
    matches = Matches(
        correct=(("LOC", 5, 6),),
        missed=(("PER", 2, 4),),
        spurious=(("ORG", 3, 4),),
        ignored=(("LOC", 0, 0), ("TIME", 7, 8)),
    )
    [confusion] = count((Doc(Vocab()), Matches()), (doc, matches))
    assert (confusion["error"], confusion["count"]) == ("type and boundary", 1)
    [example] = confusion["examples"]
    assert (example["document"], example["text"]) == (1, doc.text.strip())
    oslo = ("Oslo", "LOC", False)
    assert describe(example, "gold") == [("Carl Brown", "PER", True), oslo]
    predicted = [("Brown", "ORG", True), oslo, ("night", "TIME", False)]
    assert describe(example, "predicted") == predicted


def test_an_example_is_the_sentences_of_the_error():
    doc = toy_ner.make_doc("it rains . so sings Anna|PER Rome|LOC sleeps . He too")
    for token in doc:
        token.is_sent_start = token.i in (0, 3, 6, 9)
    one, both = (
        count((doc, Matches(missed=(("PER", 5, 6),), spurious=spurious)))[0]["examples"]
        for spurious in ((), (("PER", 5, 7),))
    )
    assert one[0]["text"] == "so sings Anna"
    assert describe(one[0], "gold") == [("Anna", "PER", True)]
    assert both[0]["text"] == "so sings Anna Rome sleeps ."


@pytest.mark.parametrize(
    ("n", "at", "has_sentences", "shown"),
    [
        (200, 100, False, (70, 131)),
        (200, 10, False, (0, 41)),
        (201, 100, True, (70, 131)),
        (200, 100, True, (0, 200)),
    ],
)
def test_long_texts_are_cut_around_the_error(n, at, has_sentences, shown):
    doc = toy_ner.make_doc(" ".join(f"w{i}|T{i}" for i in range(n)))
    for token in doc if has_sentences else ():
        token.is_sent_start = token.i == 0
    [confusion] = count((doc, Matches(missed=((f"T{at}", at, at + 1),))))
    [example] = confusion["examples"]
    marks = [(f"w{i}", f"T{i}", i == at) for i in range(*shown)]
    assert example["text"].split() == [text for text, *_ in marks]
    assert describe(example, "gold") == marks
