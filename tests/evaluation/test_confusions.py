from collections import Counter
from collections.abc import Collection

import hypothesis.strategies as st
import pytest
from hypothesis import given
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.confusions import (
    ErrorCounter,
    find_wrong_entities,
    name_error,
    pair_errors,
)
from spacy_hashembeds.evaluation.scorer import Matches

from .. import toy_ner


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (("PER", 0, 2), None, "missed"),
        (None, ("PER", 0, 2), "spurious"),
        (("PER", 0, 2), ("LOC", 0, 2), "type"),
        (("PER", 0, 2), ("PER", 1, 2), "boundary"),
        (("PER", 0, 2), ("LOC", 0, 3), "type and boundary"),
    ],
)
def test_errors_are_named(gold, predicted, expected):
    assert name_error(gold, predicted) == expected


@pytest.mark.parametrize(
    ("missed", "spurious", "expected"),
    [
        # One gold entity in two parts: the larger one is its counterpart.
        (
            [("PER", 0, 3)],
            [("PER", 0, 1), ("LOC", 1, 3)],
            [(("PER", 0, 3), ("LOC", 1, 3)), (None, ("PER", 0, 1))],
        ),
        # Equal parts: the one of the same type.
        (
            [("PER", 0, 2)],
            [("LOC", 0, 1), ("PER", 1, 2)],
            [(("PER", 0, 2), ("PER", 1, 2)), (None, ("LOC", 0, 1))],
        ),
        # All else equal: the first.
        (
            [("PER", 0, 1), ("PER", 1, 2)],
            [("PER", 0, 2)],
            [(("PER", 0, 1), ("PER", 0, 2)), (("PER", 1, 2), None)],
        ),
        # Neighbours share nothing.
        (
            [("PER", 0, 2)],
            [("PER", 2, 3)],
            [(("PER", 0, 2), None), (None, ("PER", 2, 3))],
        ),
        ([], [], []),
    ],
)
def test_what_shares_most_tokens_is_paired(missed, spurious, expected):
    assert pair_errors(missed, spurious) == expected


@st.composite
def spans(draw) -> list[tuple[str, int, int]]:
    bounds = sorted(draw(st.sets(st.integers(0, 12))))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return [(draw(st.sampled_from("XY")), start, end) for start, end in pairs]


@given(spans(), spans())
def test_every_entity_is_in_one_pair_and_no_overlap_is_left(missed, spurious):
    pairs = pair_errors(missed, spurious)
    assert Counter(gold for gold, _ in pairs if gold) == Counter(missed)
    assert Counter(got for _, got in pairs if got) == Counter(spurious)
    lone_gold = [gold for gold, got in pairs if got is None]
    lone_predicted = [got for gold, got in pairs if gold is None]
    for gold, got in pairs:
        if gold and got:
            assert set(range(*gold[1:])) & set(range(*got[1:]))
    for gold in lone_gold:
        for got in lone_predicted:
            assert not set(range(*gold[1:])) & set(range(*got[1:]))


def count(*docs: tuple[Doc, Matches]):
    counter = ErrorCounter()
    for number, (doc, matches) in enumerate(docs):
        counter.add(find_wrong_entities(number, doc, matches))
    return counter.rank()


def test_confusions_are_ranked_by_count_and_then_by_name():
    doc = toy_ner.make_doc("Anna|PER Ben|PER Oslo|LOC Rome|LOC and so on")
    matches = Matches(
        missed=(("PER", 0, 1), ("PER", 1, 2), ("LOC", 2, 3), ("LOC", 3, 4)),
        spurious=(("LOC", 0, 1), ("LOC", 1, 2), ("LOC", 5, 6)),
    )
    found = [
        (c["gold"], c["predicted"], c["error"], c["count"])
        for c in count((doc, matches))
    ]
    assert found == [
        ("LOC", None, "missed", 2),
        ("PER", "LOC", "type", 2),
        (None, "LOC", "spurious", 1),
    ]


def describe(example, side):
    """What is marked as gold or predicted, its label, and whether it is the error."""
    text = example["text"]
    return [
        (text[mark["start"] : mark["end"]], mark["label"], mark["is_error"])
        for mark in example[side]
    ]


def split(doc: Doc, starts: Collection[int]) -> Doc:
    """Begin sentences at these tokens."""
    for token in doc:
        token.is_sent_start = token.i in starts
    return doc


def test_an_example_shows_the_error_among_the_other_entities():
    doc = toy_ner.make_doc("we saw Carl+Brown|PER in Oslo|LOC")
    matches = Matches(
        correct=(("LOC", 5, 6),), missed=(("PER", 2, 4),), spurious=(("PER", 3, 4),)
    )
    [confusion] = count((Doc(Vocab()), Matches()), (doc, matches))
    assert (confusion["error"], confusion["count"]) == ("boundary", 1)
    [example] = confusion["examples"]
    assert (example["document"], example["text"]) == (1, "we saw Carl Brown in Oslo")
    oslo = ("Oslo", "LOC", False)
    assert describe(example, "gold") == [("Carl Brown", "PER", True), oslo]
    assert describe(example, "predicted") == [("Brown", "PER", True), oslo]


def test_only_so_many_examples_are_kept():
    doc = toy_ner.make_doc("Anna|PER")
    matches = Matches(missed=(("PER", 0, 1),))
    [confusion] = count(*[(doc, matches)] * 7)
    assert confusion["count"] == 7
    assert [example["document"] for example in confusion["examples"]] == [*range(5)]


def test_an_example_is_the_sentence_of_the_error():
    doc = toy_ner.make_doc("it rains . so sings Anna|PER Rome|LOC sleeps .")
    matches = Matches(missed=(("PER", 5, 6),))
    [confusion] = count((split(doc, (0, 3, 6)), matches))
    [example] = confusion["examples"]
    assert example["text"] == "so sings Anna"
    assert describe(example, "gold") == [("Anna", "PER", True)]


@pytest.mark.parametrize("missed", [("PER", 3, 4), ("PER", 2, 3)])
def test_an_error_across_sentences_shows_both(missed):
    doc = split(toy_ner.make_doc("it rains . Anna|PER sings ."), (0, 3))
    matches = Matches(missed=(missed,), spurious=(("PER", 2, 4),))
    [confusion] = count((doc, matches))
    assert confusion["examples"][0]["text"] == "it rains . Anna sings ."


@pytest.mark.parametrize(
    ("place", "shown"), [(100, (70, 131)), (5, (0, 36)), (199, (169, 200))]
)
def test_an_example_without_sentences_is_cut_to_what_is_near(place, shown):
    words = [f"w{i}" for i in range(200)]
    ents = ["B-X" if i == place else "O" for i in range(200)]
    doc = Doc(Vocab(), words=words, ents=ents)
    [confusion] = count((doc, Matches(missed=(("X", place, place + 1),))))
    [example] = confusion["examples"]
    assert example["text"].split() == words[slice(*shown)]
    assert describe(example, "gold") == [(f"w{place}", "X", True)]


def test_an_entity_that_is_cut_in_two_is_not_marked():
    ents = ["O"] * 100 + ["B-X"] + ["O"] * 28 + ["B-Y", "B-Z", "I-Z"] + ["O"] * 68
    doc = Doc(Vocab(), words=["w"] * 200, ents=ents)
    matches = Matches(missed=(("X", 100, 101),), spurious=(("Z", 130, 132),))
    missed = next(c for c in count((doc, matches)) if c["error"] == "missed")
    (example,) = missed["examples"]
    assert len(example["text"].split()) == 61  # up to the first token of Z
    assert [mark["label"] for mark in example["gold"]] == ["X", "Y"]
    assert example["predicted"] == []


@pytest.mark.parametrize(("n", "shown"), [(201, (70, 131)), (200, (0, 200))])
def test_a_very_long_sentence_is_cut_to_what_is_near(n, shown):
    doc = split(toy_ner.make_doc(" ".join(f"w{i}|T{i}" for i in range(n))), (0,))
    [confusion] = count((doc, Matches(missed=(("T100", 100, 101),))))
    [example] = confusion["examples"]
    marks = [(f"w{i}", f"T{i}", i == 100) for i in range(*shown)]
    assert example["text"].split() == [text for text, *_ in marks]
    assert describe(example, "gold") == marks


def test_all_predictions_in_the_sentence_are_shown():
    """Right ones, wrong ones, and those where nobody knows."""
    doc = toy_ner.make_doc("Anna|PER met Bob|PER near Oslo by night")
    matches = Matches(
        missed=(("PER", 0, 1),),
        correct=(("PER", 2, 3),),
        ignored=(("LOC", 4, 5),),
        spurious=(("TIME", 6, 7),),
    )
    missed, spurious = sorted(count((doc, matches)), key=lambda c: c["error"])
    for confusion, error in ((missed, None), (spurious, "TIME")):
        (example,) = confusion["examples"]
        assert describe(example, "predicted") == [
            ("Bob", "PER", False),
            ("Oslo", "LOC", False),
            ("night", "TIME", error == "TIME"),
        ]


def test_predictions_aligned_with_nothing_are_not_shown():
    doc = toy_ner.make_doc("Anna|PER sings")
    matches = Matches(missed=(("PER", 0, 1),), ignored=(("LOC", 0, 0),))
    [confusion] = count((doc, matches))
    assert confusion["examples"][0]["predicted"] == []
