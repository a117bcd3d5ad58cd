from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.tools.evaluate.confusions import ErrorCounter, pair_errors
from spacy_hashembeds.training.scorer import Matches

from ... import toy_ner


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
    def share(gold, got) -> bool:
        return bool({*range(*gold[1:])} & {*range(*got[1:])})

    pairs = pair_errors(missed, spurious)
    assert Counter(gold for gold, _ in pairs if gold) == Counter(missed)
    assert Counter(got for _, got in pairs if got) == Counter(spurious)
    assert all(share(*pair) for pair in pairs if None not in pair)
    for gold in (gold for gold, got in pairs if got is None):
        assert not any(share(gold, got) for other, got in pairs if other is None)


def count(*docs: tuple[Doc, Matches]):
    counter = ErrorCounter()
    for number, (doc, matches) in enumerate(docs):
        counter.add_entities(number, doc, matches)
    return counter.rank()


def describe(example, side):
    """What is marked as gold or predicted, its label, and whether it is the error."""
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
    # only so many examples are kept
    assert [example["document"] for example in confusions[1]["examples"]] == [*range(5)]


def test_an_example_shows_the_error_among_the_other_entities():
    """Right ones, wrong ones, and those where nobody knows; not those on no token."""
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
    ("n", "has_sentences", "shown"),
    [(200, False, (70, 131)), (201, True, (70, 131)), (200, True, (0, 200))],
)
def test_a_long_text_is_cut_to_what_is_near(n, has_sentences, shown):
    doc = toy_ner.make_doc(" ".join(f"w{i}|T{i}" for i in range(n)))
    for token in doc if has_sentences else ():
        token.is_sent_start = token.i == 0
    [confusion] = count((doc, Matches(missed=(("T100", 100, 101),))))
    [example] = confusion["examples"]
    marks = [(f"w{i}", f"T{i}", i == 100) for i in range(*shown)]
    assert example["text"].split() == [text for text, *_ in marks]
    assert describe(example, "gold") == marks
