import pytest

from spacy_hashembeds.tools.evaluate.groups import group_entity, learn_training_set

from ... import toy_ner

TRAIN = (
    "Anna|PER met Paris|PER in Paris|LOC",
    "Carl+Brown|PER is in New York today",
    *["Rome|LOC"] * 12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna|PER", ("same_type", "1", "1")),
        ("Paris|PER", ("same_type", "2-9", "2-9")),
        ("Anna|LOC", ("other_type", "1", "1")),
        ("Rome|PER", ("other_type", "10-99", "10-99")),  # whatever the type
        ("Carl+Brown|PER", ("same_type", "1", "1")),
        ("Carl|PER", ("tokens_seen", "0", "1")),
        ("New+York|LOC", ("tokens_seen", "0", "1")),  # seen, though in no entity
        ("Carl+Rome|PER", ("tokens_seen", "0", "1")),
        ("New+Orleans|LOC", ("tokens_partly_seen", "0", "0")),
        ("Oslo|LOC", ("tokens_unseen", "0", "0")),
        ("anna|PER", ("tokens_unseen", "0", "0")),  # case counts
    ],
)
def test_entities_are_grouped_by_what_training_has_shown(text, expected):
    knowledge = learn_training_set(map(toy_ner.make_doc, TRAIN))
    [ent] = toy_ner.make_doc(f"yesterday {text} slept").ents
    assert tuple(group_entity(ent, knowledge).values()) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0"), (1, "1"), (2, "2-9"), (9, "2-9"), (10, "10-99"), (100, "100+")],
)
def test_ranges_hold_their_bounds(count, expected):
    doc = toy_ner.make_doc("Oslo|LOC")
    groups = group_entity(doc.ents[0], learn_training_set([doc] * count))
    assert groups["frequency"] == groups["token_frequency"] == expected
