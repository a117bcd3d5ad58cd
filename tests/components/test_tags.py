"""The numbers of tags, and the labels that they are made of."""

import pytest

from spacy_hashembeds.components.tags import (
    MISSING,
    check_label,
    check_labels,
    count_tags,
    encode_tags,
    number_tags,
)


def test_there_are_as_many_tags_as_in_the_paper():
    """OntoNotes has 18 types and 73 classes, WNUT 2017 has 6 and 25 (§3.2)."""
    assert [count_tags(n_types) for n_types in (18, 6, 0)] == [73, 25, 1]
    tags = set(number_tags(["A", "B-C"]).values())
    assert tags == {MISSING, *range(count_tags(2))}


def test_tags_keep_their_numbers_when_types_are_added():
    before, after = number_tags(["A", "B"]), number_tags(["A", "B", "C"])
    assert before.items() <= after.items()
    assert min(set(after.values()) - set(before.values())) == len(before) - 2


def test_tags_of_spacy_are_understood():
    numbers = number_tags(["PER", "work-of-art"])
    tags = ["O", "U-PER", "B-PER", "I-PER", "L-PER", None, "-", "L-work-of-art"]
    assert encode_tags(tags, numbers) == [0, 1, 2, 3, 4, MISSING, MISSING, 8]


def test_another_type_is_refused():
    with pytest.raises(ValueError, match=r"type 'work-of-art',.*labels .* `add_label`"):
        encode_tags(["O", "B-work-of-art"], number_tags(["PER"]))


@pytest.mark.parametrize("label", ["", " ", "PER ", "\tPER", None, 5, b"PER", ["PER"]])
def test_bad_labels_are_refused(label):
    with pytest.raises(ValueError, match=r"'label' should be the name .* Correct"):
        check_label(label)
    with pytest.raises(ValueError, match="'label' should be the name of an entity"):
        check_labels(["LOC", label])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("PER", "'labels' should be a list of entity types, .* but is 'PER'"),
        ({"PER": 3}, r"`spacy init labels` writes it .* \(not for 'ner'\)"),
        (None, "but is None"),
        (["PER", "LOC", "PER"], "has 'PER' 2 times. Remove"),
    ],
)
def test_bad_lists_of_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(labels)


def test_labels_may_have_white_space_inside():
    assert check_labels(("work of art", "PER")) == ["work of art", "PER"]
